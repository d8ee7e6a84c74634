package cache

import "strings"

// order is what a tree sorts its entries by: their keys, or the value of one field (its place in Record.Fields) and then
// their keys.
type order int

const byKey order = -1

// position is where an entry stands in an order; the value is empty in the order of keys. As an end, the zero position
// is no bound.
type position struct{ value, key string }

func (o order) position(e *Entry) position {
	if o == byKey {
		return position{key: e.Key()}
	}
	return position{e.Field(int(o)), e.Key()}
}

// compare tells whether e stands before p (below 0), at p (0) or behind it.
func (o order) compare(e *Entry, p position) int {
	if o != byKey {
		if c := strings.Compare(e.Field(int(o)), p.value); c != 0 {
			return c
		}
	}
	return strings.Compare(e.Key(), p.key)
}

func (p position) compare(q position) int {
	if c := strings.Compare(p.value, q.value); c != 0 {
		return c
	}
	return strings.Compare(p.key, q.key)
}

func (p position) unbounded() bool { return p.key == "" && p.value == "" }
