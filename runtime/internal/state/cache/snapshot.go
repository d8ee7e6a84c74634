package cache

import (
	"hash/maphash"
	"iter"
	"math/bits"
	"slices"
	"strings"

	"apigen.dev/runtime/storage"
)

// Snapshot is the state at one revision. It is immutable, and readers take no lock.
type Snapshot struct {
	revision int64
	root     *node
	// indexes has the same entries in other orders, one for each of Config.Indexed; nil for states of the past.
	indexes []index
	// latest is the root of the present; it is set in states of the past.
	latest *node
}

type index struct {
	order order
	root  *node
}

// Revision returns the backend's revision that the snapshot shows.
func (s *Snapshot) Revision() int64 { return s.revision }

// Get returns the entry of a key, or nil.
func (s *Snapshot) Get(key string) *Entry { return entryAt(s.root, position{key: key}) }

// Count returns the number of entries whose key begins with prefix and is not below from ("" is all of the prefix), in
// logarithmic time.
func (s *Snapshot) Count(prefix, from string) int {
	if s.root == nil {
		return 0
	}
	before, all := s.root.Rank(position{key: max(prefix, from)}), s.root.Len()
	if end := storage.PrefixEnd(prefix); end != "" {
		all = s.root.Rank(position{key: end})
	}
	return max(all-before, 0)
}

// Nth returns the entry with rank n, counted from 0, among those that Entries yields, or nil, in logarithmic time.
func (s *Snapshot) Nth(prefix, from string, n int) *Entry {
	found, _ := s.root.Nth(s.root.Rank(position{key: max(prefix, from)}) + n)
	if n < 0 || found.entry == nil || !strings.HasPrefix(found.entry.Key(), prefix) {
		return nil
	}
	return found.entry
}

// Entries yields the entries whose key begins with prefix, beginning at from (inclusive; "" is the prefix's first), in
// key order.
func (s *Snapshot) Entries(prefix, from string) iter.Seq[*Entry] { return s.Select(prefix, from, nil) }

// Select is Entries without the entries that the lookup excludes; nil excludes none. It reads an index where the lookup
// names a value of an indexed field, and compares signatures otherwise. It may yield entries that don't match. It
// always yields corrupt entries, since nobody knows their labels.
func (s *Snapshot) Select(prefix, from string, l *Lookup) iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		end := storage.PrefixEnd(prefix)
		from := max(prefix, from)
		if end != "" && from >= end {
			return
		}
		if index, value := s.index(l); index != nil {
			last := position{value, end}
			if end == "" {
				last = position{value + "\x00", ""}
			}
			walk(index, position{value, from}, last, l, yield)
			return
		}
		walk(s.root, position{key: from}, position{key: end}, l, yield)
	}
}

func (s *Snapshot) index(l *Lookup) (*node, string) {
	if l == nil || s.root == nil || s.root.Marked() > 0 {
		return nil, ""
	}
	for _, index := range s.indexes {
		for _, v := range l.values {
			if index.order == order(v.Place) {
				return index.root, v.Value
			}
		}
	}
	return nil, ""
}

// Corrupt returns the first corrupt entry below prefix, or nil; in constant time if there is none.
func (s *Snapshot) Corrupt(prefix string) *Entry {
	found, _ := s.root.FirstMarked(position{key: prefix}, position{key: storage.PrefixEnd(prefix)})
	return found.entry
}

// Value is a value of one field, by its place in Record.Fields.
type Value struct {
	Place int
	Value string
}

// Lookup is the part of a selection that the cache can look up: values of fields, and labels. It excludes only entries
// that can't match, and may pass others that don't match. Its zero value passes all entries. A Lookup in use must not
// be changed.
type Lookup struct {
	values []Value
	all    signature
	any    [][]signature
}

// Field asks for a value of a field. The cache uses the index of the field that is asked for first.
func (l *Lookup) Field(v Value) {
	l.values = append(l.values, v)
	l.all |= signatureOfField(v.Place, v.Value)
}

// Label asks for a label that has one of the values. Without values it asks for nothing.
func (l *Lookup) Label(name string, values ...string) {
	signatures := make([]signature, len(values))
	for i, value := range values {
		signatures[i] = signatureOfLabel(name, value)
	}
	switch len(signatures) {
	case 0:
	case 1:
		l.all |= signatures[0]
	default:
		l.any = append(l.any, signatures)
	}
}

// Empty reports whether nothing was asked for.
func (l *Lookup) Empty() bool { return l.all == 0 && len(l.any) == 0 }

// passes reports whether an entry of this signature may match.
func (l *Lookup) passes(s signature) bool {
	if l == nil {
		return true
	}
	if s&l.all != l.all {
		return false
	}
	for _, signatures := range l.any {
		if !slices.ContainsFunc(signatures, func(one signature) bool { return s&one == one }) {
			return false
		}
	}
	return true
}

// signature is a summary of an entry's fields and labels: some bits for each of them. An entry that lacks a bit doesn't
// have the field or label that sets the bit; an entry that has the bit may.
type signature uint64

// everything is the signature of an entry whose fields and labels are unknown.
const everything = ^signature(0)

// seed keeps clients from choosing labels that all have the same signature.
var seed = maphash.MakeSeed()

func signatureOfField(place int, value string) signature {
	return signatureOf(uint64(place)+1, maphash.String(seed, value))
}

func signatureOfLabel(name, value string) signature {
	return signatureOf(maphash.String(seed, name), maphash.String(seed, value))
}

func signatureOf(what, value uint64) signature {
	high, low := bits.Mul64(what^0x9e3779b97f4a7c15, value|1)
	h := high ^ low
	return 1<<(h&63) | 1<<(h>>6&63)
}
