package encoder

import (
	"bytes"
	"slices"
	"time"
	"unicode/utf8"

	"apigen.dev/runtime/internal/verb"
	"sigs.k8s.io/yaml"
)

// yamlPieceSize is how much JSON of a list is converted to YAML at once, unless one item is larger.
const yamlPieceSize = 16 << 10

// YAML returns the JSON document that write writes, as YAML. It holds the whole document in memory.
func YAML(frames *Frames, write func(*Frame)) ([]byte, error) {
	var whole bytes.Buffer
	f := frames.Get(&whole)
	defer frames.Put(f)
	write(f)
	f.Flush()
	return ToYAML(whole.Bytes())
}

// YAMLList writes a list in YAML, several items at once. In YAML the members of an object are sorted, so a list has
// members before its items and after them.
type YAMLList struct {
	Heads *Heads
	Shape verb.Shape
	Now   time.Time
	Out   *Frame
	// Convert returns the JSON document that write writes, as YAML.
	Convert func(write func(*Frame)) ([]byte, error)

	// member is the name of the member that holds the items.
	member string
	// before and after are the text around the items. before is nil once it is written.
	before, after []byte
	err           error
}

// Write writes the list, up to the first error of Convert or of Out's writer. It returns the error of Convert. The
// caller flushes Out.
func (l *YAMLList) Write(page *verb.Page) error {
	if l.prepare(page); l.err != nil {
		return l.err
	}
	if page.Blocks != nil {
		l.joinedItems(page.Blocks)
	} else {
		l.items(page)
	}
	if l.err != nil {
		return l.err
	}
	if l.before != nil { // the list has no items
		l.Out.bytes(l.before)
		l.Out.text(l.member + ": []\n")
	}
	l.Out.bytes(l.after)
	return nil
}

// prepare makes the text around the items: that of a list without any.
func (l *YAMLList) prepare(page *verb.Page) {
	l.member = "items"
	if isRow(l.Shape) {
		l.member = "rows"
	}
	empty := *page
	empty.Items, empty.Blocks = func(func(verb.Rendition) bool) {}, nil
	around, err := l.Convert(func(f *Frame) { jsonEncoder{}.Page(f, l.Heads, l.Shape, &empty, l.Now) })
	// Other lines that read like this one are indented, because they are deeper in the document.
	l.before, l.after, _ = bytes.Cut(around, []byte("\n"+l.member+": []\n"))
	l.before, l.err = append(l.before, '\n'), err
}

// joinedItems writes items that the cache keeps joined, one block after the other.
func (l *YAMLList) joinedItems(blocks []verb.Block) {
	for i := range blocks {
		l.piece(func(f *Frame) { f.joinedBlock(&blocks[i], true, l.Now) })
		if l.err != nil || l.Out.err != nil {
			return
		}
	}
}

func (l *YAMLList) items(page *verb.Page) {
	var items []verb.Rendition
	size := 0
	join := func(f *Frame) { f.items(slices.Values(items), l.Shape, l.Now) }
	for item := range l.Out.untilError(page.Items) {
		items, size = append(items, item), size+len(item.Payload)
		if size < yamlPieceSize {
			continue
		}
		l.piece(join)
		if items, size = items[:0], 0; l.err != nil {
			return
		}
	}
	if len(items) > 0 {
		l.piece(join)
	}
}

// piece converts a document that has no member but some of the items, and writes them.
func (l *YAMLList) piece(join func(*Frame)) {
	data, err := l.Convert(func(f *Frame) {
		f.text(`{"` + l.member + `":[`)
		join(f)
		f.text("]}")
	})
	if err != nil {
		l.err = err
		return
	}
	if l.before != nil {
		l.Out.bytes(l.before)
		l.before = nil
	} else {
		data = data[len(l.member)+len(":\n"):]
	}
	l.Out.bytes(data)
}

// ToYAML converts JSON to YAML. JSON may hold characters that YAML doesn't allow unescaped. They can only stand in
// strings, where ToYAML escapes them first.
func ToYAML(data []byte) ([]byte, error) {
	return yaml.JSONToYAML(escapeForYAML(data))
}

const hexDigits = "0123456789abcdef"

func escapeForYAML(data []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(data); {
		if c := data[i]; c < utf8.RuneSelf && c != 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(data[i:])
		if !isPrintableInYAML(r) {
			out = append(append(out, data[done:i]...), '\\', 'u',
				hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
			done = i + n
		}
		i += n
	}
	if done == 0 {
		return data
	}
	return append(out, data[done:]...)
}

// isPrintableInYAML reports whether a YAML document may hold a character beyond the printable ones of ASCII unescaped.
// Control characters, line breaks, byte order marks and noncharacters must be escaped.
func isPrintableInYAML(r rune) bool {
	switch r {
	case 0x2028, 0x2029, 0xfeff, 0xfffe, 0xffff:
		return false
	}
	return r >= 0xa0
}
