package crdjson

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep a schema is read here.
const maxDepth = 200

// reader reads JSON. Once it has met something irregular, all that it returns is worthless.
type reader struct {
	data      []byte
	at, depth int
	irregular bool
	// spare are empty schemas, to read the next members of an object into: a map has copies of its values.
	spare []*props
}

// giveUp ends the reading: nothing stands behind the end of the data.
func (r *reader) giveUp() { r.irregular, r.at = true, len(r.data) }

func (r *reader) space() {
	for r.at < len(r.data) {
		switch r.data[r.at] {
		case ' ', '\n', '\t', '\r':
			r.at++
		default:
			return
		}
	}
}

// end reports whether all was regular, and nothing but space follows.
func (r *reader) end() bool {
	r.space()
	return !r.irregular && r.at == len(r.data)
}

// peek is the next byte, 0 at the end.
func (r *reader) peek() byte {
	if r.at < len(r.data) {
		return r.data[r.at]
	}
	return 0
}

// take passes over a byte and the space behind it, or tells that another one comes.
func (r *reader) take(c byte) bool {
	if r.peek() != c {
		return false
	}
	r.at++
	r.space()
	return true
}

func (r *reader) want(c byte) {
	if !r.take(c) {
		r.giveUp()
	}
}

// sequence reads what stands between open and end, separated by commas.
func (r *reader) sequence(open, end byte, read func()) {
	if r.depth++; r.depth > maxDepth {
		r.giveUp()
	}
	r.want(open)
	if !r.take(end) {
		for {
			read()
			r.space()
			if !r.take(',') {
				break
			}
		}
		r.want(end)
	}
	r.depth--
}

func (r *reader) items(read func()) { r.sequence('[', ']', read) }

// members reads an object. read reads the value of a member, and must not keep its name, whose escapes stand in it.
func (r *reader) members(read func(name []byte)) {
	r.sequence('{', '}', func() {
		name := r.quoted()
		r.space()
		r.want(':')
		read(name)
	})
}

// memberOf reads one member of an object, which may be there once, and passes over the others.
func (r *reader) memberOf(name string, read func()) {
	seen := false
	r.members(func(is []byte) {
		switch {
		case bytes.IndexByte(is, '\\') >= 0, seen && string(is) == name:
			r.giveUp()
		case string(is) != name:
			r.skip()
		default:
			seen = true
			read()
		}
	})
}

// skip passes over a value, whose literals it doesn't judge.
func (r *reader) skip() {
	switch r.peek() {
	case '{':
		r.members(func([]byte) { r.skip() })
	case '[':
		r.items(r.skip)
	case '"':
		r.quoted()
	default:
		r.literal()
	}
}

// literal returns a number, true, false or null, or what else stands up to the next delimiter.
func (r *reader) literal() []byte {
	n := bytes.IndexAny(r.data[r.at:], ",]} \n\t\r")
	if n < 0 {
		n = len(r.data) - r.at
	}
	if n == 0 {
		r.giveUp()
		return nil
	}
	r.at += n
	return r.data[r.at-n : r.at]
}

// quoted returns what stands between the quotes of a string.
func (r *reader) quoted() []byte {
	if r.peek() != '"' {
		r.giveUp()
		return nil
	}
	start := r.at + 1
	for i := start; i < len(r.data); i++ {
		switch r.data[i] {
		case '"':
			r.at = i + 1
			return r.data[start:i]
		case '\\':
			i++
		}
	}
	r.giveUp()
	return nil
}

func (r *reader) text() string {
	quoted := r.quoted()
	for i, c := range quoted {
		if c == '\\' || c < ' ' || c >= utf8.RuneSelf {
			return r.unquote(quoted, i)
		}
	}
	return string(quoted)
}

// unquote returns the text of a string, whose first bytes stand for themselves.
func (r *reader) unquote(quoted []byte, plain int) string {
	if !utf8.Valid(quoted) {
		r.giveUp()
		return ""
	}
	var out strings.Builder
	out.Grow(len(quoted))
	out.Write(quoted[:plain])
	for i := plain; i < len(quoted); i++ {
		switch c := quoted[i]; {
		case c == '\\':
			i = r.escape(&out, quoted, i+1)
		case c < ' ':
			r.giveUp()
			return ""
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// escapes are the characters behind a backslash, and what they mean.
var escapes = map[byte]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escape writes the character whose escape is at i behind its backslash, and returns where it ends.
func (r *reader) escape(out *strings.Builder, quoted []byte, i int) int {
	if c, ok := escapes[quoted[i]]; ok {
		out.WriteByte(c)
		return i
	}
	code := codeIn(quoted[i:])
	if utf16.IsSurrogate(code) && i+5 < len(quoted) && quoted[i+5] == '\\' {
		code = utf16.DecodeRune(code, codeIn(quoted[i+6:]))
		i += 6
	}
	if code < 0 || code == utf8.RuneError || utf16.IsSurrogate(code) {
		r.giveUp()
		return len(quoted)
	}
	out.WriteRune(code)
	return i + 4
}

// codeIn returns the number in the escape u0000, or -1.
func codeIn(escape []byte) rune {
	if len(escape) < 5 || escape[0] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(escape[1:5]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

func (r *reader) bool() bool {
	switch string(r.literal()) {
	case "true":
		return true
	case "false":
	default:
		r.giveUp()
	}
	return false
}

func (r *reader) whole() int64 {
	literal := r.literal()
	n, err := strconv.ParseInt(string(literal), 10, 64)
	if err != nil || !json.Valid(literal) {
		r.giveUp()
	}
	return n
}

func (r *reader) number() float64 {
	literal := r.literal()
	n, err := strconv.ParseFloat(string(literal), 64)
	if err != nil || !json.Valid(literal) {
		r.giveUp()
	}
	return n
}

// raw returns a copy of a value that isn't null.
func (r *reader) raw() []byte {
	start := r.at
	r.skip()
	if r.irregular {
		return nil
	}
	value := bytes.Clone(r.data[start:r.at])
	if string(value) == "null" || !json.Valid(value) {
		r.giveUp()
	}
	return value
}
