package cache

import (
	"hash/maphash"
	"math/bits"
	"slices"
)

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

// Empty tells whether nothing was asked for.
func (l *Lookup) Empty() bool { return l.all == 0 && len(l.any) == 0 }

// passes tells whether an entry of this signature may match.
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

// signatureOf picks two bits.
func signatureOf(what, value uint64) signature {
	high, low := bits.Mul64(what^0x9e3779b97f4a7c15, value|1)
	h := high ^ low
	return 1<<(h&63) | 1<<(h>>6&63)
}
