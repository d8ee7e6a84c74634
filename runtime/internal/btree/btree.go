// Package btree is a persistent B-tree with counts: a Tree writes, and each state that it freezes stays as it was for
// as long as somebody reads it. A write copies the path to one leaf and shares all other nodes with the states before.
//
// Every node counts the values below it, so that Rank and Nth cost a logarithm. A leaf carries an attachment for the
// program that uses the tree, such as something that is computed from the leaf's values and kept beside them.
//
// The package imports nothing of ours.
package btree

import "slices"

// Fanout bounds the children of an inner node and the values of a leaf.
const Fanout = 32

// Order says how a tree sorts its values. Its functions have no side effects and always answer the same for a value
// that is in a tree. An Order is shared by all nodes of its trees and must not be changed.
type Order[K comparable, V any] struct {
	// Key returns the key of a value. No two values of a tree have the same key.
	Key func(V) K
	// Compare compares the key of a value with a key: it is negative where the value stands before the key, 0 where it
	// stands at the key. It must agree with CompareKeys.
	Compare func(V, K) int
	// CompareKeys compares two keys. Where a method takes the zero key for no bound, the zero key can't be a bound.
	CompareKeys func(a, b K) int
	// Marked selects the values that Node.Marked counts and Node.FirstMarked finds; nil selects none.
	Marked func(V) bool
}

// Hooks keep the attachments of leaves up to date with the values of the leaves. A tree calls them while it writes, in
// the goroutine of the writer; readers may hold a leaf that the tree replaces or drops. The zero value does nothing.
type Hooks[A any] struct {
	// Made initializes the attachment of a new leaf. from belongs to the leaf from which the new one has taken its
	// values, and is nil if there is no such leaf.
	Made func(leaf, from *A)
	// Replaced is called before a copy of the leaf takes the leaf's place in the tree.
	Replaced func(leaf *A)
	// Dropped is called when a leaf leaves the tree and no copy takes its place.
	Dropped func(leaf *A)
}

// Tree writes to a persistent B-tree. One goroutine at a time may use it; the nodes that Freeze returns are shared
// freely.
type Tree[K comparable, V, A any] struct {
	root  *Node[K, V, A]
	order *Order[K, V]
	hooks Hooks[A]
	// edit marks the nodes that were made since the last Freeze. Nobody else has seen them, so they are changed in
	// place.
	edit *edit
}

// edit is compared by its address. It isn't empty, so that each one has an address of its own.
type edit struct{ _ byte }

// Build returns a tree of values, which are sorted and have different keys.
func Build[K comparable, V, A any](order *Order[K, V], hooks Hooks[A], values []V) Tree[K, V, A] {
	t := Edit[K, V, A](nil, order, hooks)
	var level []*Node[K, V, A]
	for part := range slices.Chunk(values, Fanout*3/4) {
		leaf := t.node(order.Key(part[0]))
		leaf.values = slices.Clone(part)
		t.hooks.Made(&leaf.attachment, nil)
		level = append(level, leaf.sum())
	}
	for len(level) > 1 {
		var above []*Node[K, V, A]
		for part := range slices.Chunk(level, Fanout*3/4) {
			n := t.node(part[0].low)
			n.children = slices.Clone(part)
			above = append(above, n.sum())
		}
		level = above
	}
	if len(level) == 1 {
		t.root = level[0]
	}
	return t
}

// Edit returns a tree that begins with the state of a root, which it doesn't change. A nil root is empty.
func Edit[K comparable, V, A any](root *Node[K, V, A], order *Order[K, V], hooks Hooks[A]) Tree[K, V, A] {
	nothing := func(*A) {}
	if hooks.Made == nil {
		hooks.Made = func(_, _ *A) {}
	}
	if hooks.Replaced == nil {
		hooks.Replaced = nothing
	}
	if hooks.Dropped == nil {
		hooks.Dropped = nothing
	}
	return Tree[K, V, A]{root: root, order: order, hooks: hooks, edit: &edit{}}
}

// Freeze returns the root of the present state, nil if the tree is empty. The nodes below it never change again.
func (t *Tree[K, V, A]) Freeze() *Node[K, V, A] {
	t.edit = &edit{}
	return t.root
}

func (t *Tree[K, V, A]) node(low K) *Node[K, V, A] {
	return &Node[K, V, A]{edit: t.edit, order: t.order, low: low}
}
