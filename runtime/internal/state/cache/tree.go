package cache

import (
	"strings"

	"apigen.dev/runtime/internal/btree"
)

// tree holds entries in one order: those of all keys, or those of an index.
type tree struct {
	btree.Tree[position, slot, leafBlocks]
	order order
}

// node is the root of a state of a tree, or a leaf of one.
type node = btree.Node[position, slot, leafBlocks]

// slot is an entry in a leaf. A reader that selects entries by their signature doesn't touch the others.
type slot struct {
	signature signature
	entry     *Entry
}

func buildTree(entries []*Entry, o order) tree {
	slots := make([]slot, len(entries))
	for i, e := range entries {
		slots[i] = slot{e.signature, e}
	}
	hooks := btree.Hooks[leafBlocks]{} // nobody lists an index in blocks
	if o == byKey {
		hooks = presentHooks
	}
	return tree{btree.Build(o.treeOrder(), hooks, slots), o}
}

// set puts an entry in the place of the one at its position, which it returns, or nil.
func (t *tree) set(e *Entry) *Entry {
	previous, _ := t.Set(slot{e.signature, e})
	return previous.entry
}

// remove removes the entry at a position and returns it, or nil if there is none.
func (t *tree) remove(at position) *Entry {
	previous, _ := t.Remove(at)
	return previous.entry
}

// replace brings an index up to date after e took the place of previous; one of them may be nil.
func (t *tree) replace(previous, e *Entry) {
	if previous != nil && (e == nil || t.order.compare(previous, t.order.position(e)) != 0) {
		t.remove(t.order.position(previous))
	}
	if e != nil {
		t.set(e)
	}
}

func entryAt(root *node, at position) *Entry {
	found, _ := root.Get(at)
	return found.entry
}

// walk yields the entries from one position to another (exclusive) whose signature passes.
func walk(root *node, from, end position, l *Lookup, yield func(*Entry) bool) {
	root.Leaves(from, end, func(leaf *node, first, last int) bool {
		for _, s := range leaf.Values()[first:last] {
			if l.passes(s.signature) && !yield(s.entry) {
				return false
			}
		}
		return true
	})
}

// order is what a tree sorts by: keys, or the value of one field (its place in Record.Fields) and then keys.
type order int

const byKey order = -1

// position is where an entry stands in an order; the value is empty in the order of keys. As a bound, the zero position
// means no bound.
type position struct{ value, key string }

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
