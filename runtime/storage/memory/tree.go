package memory

import (
	"math/rand/v2"

	"apigen.dev/runtime/storage"
)

// node is the root of an immutable treap, ordered by key. A change copies the path to what it changes and shares the
// rest, so that every revision keeps a root of its own at the price of O(log n) nodes. The nil node is the empty tree.
type node struct {
	kv          *storage.KeyValue
	left, right *node
	priority    uint32
	size        int
}

func (n *node) count() int {
	if n == nil {
		return 0
	}
	return n.size
}

// with returns a copy of n with other children.
func (n *node) with(left, right *node) *node {
	return &node{kv: n.kv, left: left, right: right, priority: n.priority, size: left.count() + right.count() + 1}
}

func (n *node) get(key string) *storage.KeyValue {
	for n != nil {
		switch {
		case key < n.kv.Key:
			n = n.left
		case key > n.kv.Key:
			n = n.right
		default:
			return n.kv
		}
	}
	return nil
}

// put returns the tree with kv in it. exists tells whether the key is in the tree already.
func (n *node) put(kv *storage.KeyValue, exists bool) *node {
	if exists {
		return n.replace(kv)
	}
	return n.insert(kv, rand.Uint32())
}

func (n *node) replace(kv *storage.KeyValue) *node {
	switch {
	case kv.Key < n.kv.Key:
		return n.with(n.left.replace(kv), n.right)
	case kv.Key > n.kv.Key:
		return n.with(n.left, n.right.replace(kv))
	}
	return &node{kv: kv, left: n.left, right: n.right, priority: n.priority, size: n.size}
}

func (n *node) insert(kv *storage.KeyValue, priority uint32) *node {
	switch {
	case n == nil || n.priority < priority:
		left, right := n.split(kv.Key)
		return (&node{kv: kv, priority: priority}).with(left, right)
	case kv.Key < n.kv.Key:
		return n.with(n.left.insert(kv, priority), n.right)
	}
	return n.with(n.left, n.right.insert(kv, priority))
}

// split parts the tree into the keys below key and the keys above it.
func (n *node) split(key string) (below, above *node) {
	switch {
	case n == nil:
		return nil, nil
	case n.kv.Key < key:
		below, above = n.right.split(key)
		return n.with(n.left, below), above
	}
	below, above = n.left.split(key)
	return below, n.with(above, n.right)
}

// remove returns the tree without key, which is in it.
func (n *node) remove(key string) *node {
	switch {
	case key < n.kv.Key:
		return n.with(n.left.remove(key), n.right)
	case key > n.kv.Key:
		return n.with(n.left, n.right.remove(key))
	}
	return merge(n.left, n.right)
}

// merge joins two trees; all keys of left are below those of right.
func merge(left, right *node) *node {
	switch {
	case left == nil:
		return right
	case right == nil:
		return left
	case left.priority > right.priority:
		return left.with(left.left, merge(left.right, right))
	}
	return right.with(merge(left, right.left), right.right)
}

// rank returns how many keys are below key.
func (n *node) rank(key string) int {
	rank := 0
	for n != nil {
		if n.kv.Key < key {
			rank += n.left.count() + 1
			n = n.right
		} else {
			n = n.left
		}
	}
	return rank
}

// ascend calls yield for the keys from the given one on, in order, until it returns false.
func (n *node) ascend(from string, yield func(*storage.KeyValue) bool) bool {
	if n == nil {
		return true
	}
	if n.kv.Key >= from {
		if !n.left.ascend(from, yield) || !yield(n.kv) {
			return false
		}
	}
	return n.right.ascend(from, yield)
}
