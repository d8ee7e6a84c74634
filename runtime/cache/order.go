package cache

import (
	"strings"

	"apigen.dev/runtime/btree"
)

// order is what a tree sorts its entries by: their keys, or the value of one field (its place in Record.Fields) and
// then their keys.
type order int

const byKey order = -1

// position is where an entry stands in an order; the value is empty in the order of keys. As a bound, the zero position
// is no bound.
type position struct{ value, key string }

// treeOrder returns the order as a tree takes it.
func (o order) treeOrder() *btree.Order[position, slot] {
	if o == byKey {
		return keyOrder
	}
	return &btree.Order[position, slot]{
		Key:         func(s slot) position { return o.position(s.entry) },
		Compare:     func(s slot, p position) int { return o.compare(s.entry, p) },
		CompareKeys: position.compare,
		Marked:      isCorrupt,
	}
}

// keyOrder is byKey as a tree takes it. It spares the comparison of values, which are all empty.
var keyOrder = &btree.Order[position, slot]{
	Key:         func(s slot) position { return position{key: s.entry.Key()} },
	Compare:     func(s slot, p position) int { return strings.Compare(s.entry.Key(), p.key) },
	CompareKeys: func(p, q position) int { return strings.Compare(p.key, q.key) },
	Marked:      isCorrupt,
}

func isCorrupt(s slot) bool { return s.entry.corrupt() }

func (o order) position(e *Entry) position {
	if o == byKey {
		return position{key: e.Key()}
	}
	return position{e.Field(int(o)), e.Key()}
}

// compare is negative where e stands before p, 0 where it stands at p, and positive behind it.
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
