package omission

import (
	"bytes"
	"encoding/json"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SentZeros are zero values that a client sent, null, and texts that Go writes in another form, in one value of JSON.
// They don't change once they are made. Nil are none.
type SentZeros struct {
	// Zero is the value, if it is zero or null; "" if it isn't. Of an object it is {}, and Below are all of its
	// members.
	Zero string `json:"zero,omitempty"`
	// Text is the JSON of a text or number that isn't zero, and whose Go type writes it as Canonical: "60s" and "1m0s".
	// Of one that is zero, Canonical is that of Zero.
	Text      string `json:"text,omitempty"`
	Canonical string `json:"canonical,omitempty"`
	// Digest is that of the JSON of an element of a list, by which it is found where code has moved it.
	Digest string `json:"digest,omitempty"`
	// Below are those in members of an object or map, or in elements of a list, sorted by name.
	Below []Member `json:"below,omitempty"`
}

// Member is a member of an object or map, or an element of a list, whose name is its index.
type Member struct {
	Name string     `json:"name"`
	Sent *SentZeros `json:"sent"`
}

// At returns those in a member; nil if there are none.
func (s *SentZeros) At(name string) *SentZeros {
	if s == nil {
		return nil
	}
	i, found := slices.BinarySearchFunc(s.Below, name, func(m Member, name string) int {
		return strings.Compare(m.Name, name)
	})
	if !found {
		return nil
	}
	return s.Below[i].Sent
}

// element returns those in an element of a list.
func (s *SentZeros) element(i int) *SentZeros {
	if s == nil {
		return nil
	}
	return s.At(strconv.Itoa(i))
}

func (s *SentZeros) members() []Member {
	if s == nil {
		return nil
	}
	return s.Below
}

// find finds a member by its key in JSON.
func (s *SentZeros) find(key []byte) (i int, found bool) {
	if bytes.IndexByte(key, '\\') >= 0 {
		key = []byte(keyText(key))
	}
	return slices.BinarySearchFunc(s.Below, key, func(m Member, key []byte) int {
		switch { // strings.Compare would make a text of the key
		case m.Name < string(key):
			return -1
		case m.Name > string(key):
			return 1
		}
		return 0
	})
}

// with returns SentZeros with other members, which may be itself.
func (s *SentZeros) with(below members) *SentZeros {
	if slices.Equal(s.Below, below) {
		return s
	}
	out := *s
	out.Below = below
	return &out
}

// AnyItem stands in a path for the elements of a list or map.
const AnyItem = "[*]"

// pathOf returns the names in a path, such as spec.containers[*].resources. A dot in a name stands behind a backslash.
func pathOf(path string) []string {
	names := strings.Split(strings.ReplaceAll(strings.ReplaceAll(path, `\.`, escapedDot), AnyItem, "."+AnyItem), ".")
	for i, name := range names {
		names[i] = strings.ReplaceAll(name, escapedDot, ".")
	}
	return names
}

// escapedDot stands for a dot in a name; no name has it.
const escapedDot = "\x00"

// replaced returns SentZeros with what other has at a path.
func (s *SentZeros) replaced(other *SentZeros, path []string) *SentZeros {
	if len(path) == 0 {
		return other
	}
	names := []string{path[0]}
	if path[0] == AnyItem {
		names = nil
		for _, m := range slices.Concat(s.members(), other.members()) {
			names = append(names, m.Name)
		}
	}
	below := slices.Clone(members(s.members()))
	for _, name := range names {
		below = append(below, Member{name, s.At(name).replaced(other.At(name), path[1:])})
	}
	out := below.sent("")
	if out != nil && s != nil {
		out.Zero, out.Text, out.Canonical, out.Digest = s.Zero, s.Text, s.Canonical, s.Digest
	}
	return out
}

// present returns SentZeros without what is absent.
func (s *SentZeros) present() *SentZeros {
	if s == nil || s.Zero == absent {
		return nil
	}
	var below members
	same := true
	for _, m := range s.Below {
		one := m.Sent.present()
		same = same && one == m.Sent
		if one != nil {
			below = append(below, Member{m.Name, one})
		}
	}
	if same {
		return s
	}
	if out := s.with(below); !out.isEmpty() {
		return out
	}
	return nil
}

// isEmpty reports whether there are none.
func (s *SentZeros) isEmpty() bool {
	return s == nil || s.Zero == "" && s.Text == "" && len(s.Below) == 0
}

// count returns how many values there are.
func (s *SentZeros) count() (n int) {
	if s == nil {
		return 0
	}
	if s.Zero != "" || s.Text != "" {
		n++
	}
	for _, m := range s.Below {
		n += m.Sent.count()
	}
	return n
}

// valid reports whether SentZeros, which was decoded, is as it is made.
func (s *SentZeros) valid() bool {
	return s != nil && sort.IsSorted(members(s.Below)) &&
		!slices.ContainsFunc(s.Below, func(m Member) bool { return !m.Sent.valid() })
}

// append appends SentZeros as JSON. encoding/json would do the same in several times the time.
func (s *SentZeros) append(out []byte) []byte {
	out = append(out, '{')
	if s.Zero != "" {
		out = append(appendText(append(out, `"zero":`...), s.Zero), ',')
	}
	if s.Text != "" {
		out = append(appendText(append(out, `"text":`...), s.Text), ',')
	}
	if s.Canonical != "" {
		out = append(appendText(append(out, `"canonical":`...), s.Canonical), ',')
	}
	if s.Digest != "" {
		out = append(appendText(append(out, `"digest":`...), s.Digest), ',')
	}
	if len(s.Below) == 0 {
		return append(bytes.TrimSuffix(out, []byte(",")), '}')
	}
	out = append(out, `"below":[`...)
	for i, m := range s.Below {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendText(append(out, `{"name":`...), m.Name), `,"sent":`...)
		out = append(m.Sent.append(out), '}')
	}
	return append(out, `]}`...)
}

// members are collected for SentZeros. They implement sort.Interface, whose sort every binary has: one of slices would
// add ten kilobytes.
type members []Member

// set adds what is known of a member by its key in JSON. One object may have a key twice: what is added last counts,
// also if it is nothing.
func (m *members) set(key []byte, s *SentZeros) {
	if s != nil || len(*m) > 0 {
		*m = append(*m, Member{keyText(key), s})
	}
}

// and returns members with another one, unless that is nothing.
func (m members) and(name string, s *SentZeros) members {
	if s == nil {
		return m
	}
	return append(m, Member{name, s})
}

func (m members) Len() int           { return len(m) }
func (m members) Less(i, j int) bool { return m[i].Name < m[j].Name }
func (m members) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }

// sent returns members, which are sorted, as those of a value; nil if there are none, and it isn't zero.
func (m members) sent(zero string) *SentZeros {
	sort.Stable(m)
	last := m[:0]
	for i, one := range m {
		if one.Sent != nil && (i == len(m)-1 || m[i+1].Name != one.Name) {
			last = append(last, one)
		}
	}
	if len(last) == 0 && zero == "" {
		return nil
	}
	return &SentZeros{Zero: zero, Below: last}
}

// keyText returns a key in JSON as text, in which encoding/json replaces what isn't UTF-8.
func keyText(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw)
	}
	var text string
	if json.Unmarshal(slices.Concat([]byte{'"'}, raw, []byte{'"'}), &text) != nil {
		return string(raw)
	}
	return text
}

// appendText appends a text as JSON.
func appendText(out []byte, text string) []byte {
	begin := len(out)
	out = append(out, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c > '~':
			quoted, _ := json.Marshal(text) // a text has JSON
			return append(out[:begin], quoted...)
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}
