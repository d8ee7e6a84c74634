package btree

import (
	"slices"
	"sort"
)

// Node is the root of a state of a tree, or a leaf of one. A nil Node is an empty tree. A frozen Node is immutable,
// apart from the attachments of leaves, and safe for concurrent use.
type Node[K comparable, V, A any] struct {
	attachment A
	edit       *edit
	order      *Order[K, V]
	low        K // at most the key of the first value below, and above all keys below the left neighbour
	values     []V
	children   []*Node[K, V, A]
	count      int // of the values below
	marked     int // of the marked ones among them
}

// Len returns the number of values.
func (n *Node[K, V, A]) Len() int {
	if n == nil {
		return 0
	}
	return n.count
}

// Marked returns the number of values that Order.Marked selects.
func (n *Node[K, V, A]) Marked() int {
	if n == nil {
		return 0
	}
	return n.marked
}

// Get returns the value of a key.
func (n *Node[K, V, A]) Get(key K) (v V, found bool) {
	leaf := n.LeafOf(key)
	if leaf == nil {
		return v, false
	}
	i, found := leaf.find(key)
	if found {
		v = leaf.values[i]
	}
	return v, found
}

// LeafOf returns the leaf that has a key, or would have it; nil if the tree is empty.
func (n *Node[K, V, A]) LeafOf(key K) *Node[K, V, A] {
	for n != nil && !n.isLeaf() {
		n = n.children[n.childOf(key)]
	}
	return n
}

// Rank returns the number of values whose keys are below a key.
func (n *Node[K, V, A]) Rank(key K) int {
	if n == nil {
		return 0
	}
	rank := 0
	for !n.isLeaf() {
		i := n.childOf(key)
		for _, c := range n.children[:i] {
			rank += c.count
		}
		n = n.children[i]
	}
	i, _ := n.find(key)
	return rank + i
}

// Nth returns the value of a rank.
func (n *Node[K, V, A]) Nth(rank int) (v V, found bool) {
	if rank < 0 || rank >= n.Len() {
		return v, false
	}
	for !n.isLeaf() {
		for _, c := range n.children {
			if rank < c.count {
				n = c
				break
			}
			rank -= c.count
		}
	}
	return n.values[rank], true
}

// Leaves yields the leaves that have values from one key (inclusive) to another (exclusive), in order, with the range
// of these values in the leaf's Values. It ends when yield returns false, and returns that. The zero key means no
// bound. Only the paths to the two ends compare keys.
func (n *Node[K, V, A]) Leaves(from, end K, yield func(leaf *Node[K, V, A], first, last int) bool) bool {
	if n == nil {
		return true
	}
	first, last := n.span(from, end)
	if n.isLeaf() {
		return first >= last || yield(n, first, last)
	}
	for i := first; i < last; i++ {
		var low, high K
		if i == first {
			low = from
		}
		if i == last-1 {
			high = end
		}
		if !n.children[i].Leaves(low, high, yield) {
			return false
		}
	}
	return true
}

// FirstMarked returns the first value from one key (inclusive) to another (exclusive) that Order.Marked selects. The
// zero key means no bound. It visits only subtrees that have such a value.
func (n *Node[K, V, A]) FirstMarked(from, end K) (v V, found bool) {
	if n.Marked() == 0 {
		return v, false
	}
	first, last := n.span(from, end)
	for i := first; i < last; i++ {
		if n.isLeaf() {
			if n.order.Marked(n.values[i]) {
				return n.values[i], true
			}
			continue
		}
		if v, found = n.children[i].FirstMarked(from, end); found {
			return v, true
		}
	}
	return v, false
}

// Values returns the values of a leaf, which the caller must not change.
func (n *Node[K, V, A]) Values() []V { return n.values }

// Attachment returns the attachment of a leaf. Its user is responsible for concurrent access.
func (n *Node[K, V, A]) Attachment() *A { return &n.attachment }

func (n *Node[K, V, A]) isLeaf() bool { return n.children == nil }

func (n *Node[K, V, A]) size() int { return len(n.values) + len(n.children) }

// sum counts the values below n anew, and returns n.
func (n *Node[K, V, A]) sum() *Node[K, V, A] {
	n.count, n.marked = len(n.values), 0
	for _, v := range n.values {
		n.marked += n.order.marks(v)
	}
	for _, c := range n.children {
		n.count += c.count
		n.marked += c.marked
	}
	return n
}

// find returns the index of a key in a leaf, and whether a value has the key.
func (n *Node[K, V, A]) find(key K) (int, bool) {
	return slices.BinarySearchFunc(n.values, key, n.order.Compare)
}

// childOf returns the index of the child below which a key belongs.
func (n *Node[K, V, A]) childOf(key K) int {
	return sort.Search(len(n.children)-1, func(i int) bool {
		return n.order.CompareKeys(n.children[i+1].low, key) > 0
	})
}

// span returns the range of a leaf's values between two keys, or of an inner node's children that may have such values.
func (n *Node[K, V, A]) span(from, end K) (first, last int) {
	var unbounded K
	last = n.size()
	if n.isLeaf() {
		if from != unbounded {
			first, _ = n.find(from)
		}
		if end != unbounded {
			last, _ = n.find(end)
		}
		return first, last
	}
	if from != unbounded {
		first = n.childOf(from)
	}
	if end != unbounded {
		last = n.childOf(end) + 1
	}
	return first, last
}
