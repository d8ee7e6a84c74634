package btree

import "slices"

// Set puts a value in the place of the one with the same key, which it returns if there was one.
func (t *Tree[K, V, A]) Set(v V) (previous V, replaced bool) {
	key := t.order.Key(v)
	if t.root == nil {
		t.root = t.node(key)
		t.hooks.Made(&t.root.attachment, nil)
	}
	w := insertion[K, V]{key: key, value: v}
	root, right := t.put(t.root, &w)
	if right != nil {
		above := t.node(root.low)
		above.children = []*Node[K, V, A]{root, right}
		root = above.sum()
	}
	t.root = root
	return w.previous, w.replaced
}

// Remove removes the value of a key and returns it if there was one.
func (t *Tree[K, V, A]) Remove(key K) (previous V, removed bool) {
	previous, removed = t.root.Get(key)
	if !removed {
		return previous, false
	}
	root := t.take(t.root, key, t.order.marks(previous))
	for len(root.children) == 1 {
		root = root.children[0]
	}
	if root.count == 0 {
		root = nil
	}
	t.root = root
	return previous, true
}

// insertion is a value on its way to its leaf, and what was found there.
type insertion[K comparable, V any] struct {
	key             K
	value, previous V
	replaced        bool
}

// writable returns n if it was made since the last Freeze, else a copy.
func (t *Tree[K, V, A]) writable(n *Node[K, V, A]) *Node[K, V, A] {
	if n.edit == t.edit {
		return n
	}
	c := t.node(n.low)
	c.count, c.marked = n.count, n.marked
	if n.isLeaf() {
		t.hooks.Replaced(&n.attachment)
		t.hooks.Made(&c.attachment, &n.attachment)
		c.values = append(make([]V, 0, len(n.values)+1), n.values...)
	} else {
		c.children = append(make([]*Node[K, V, A], 0, len(n.children)+1), n.children...)
	}
	return c
}

// put returns the node that takes n's place, and its new right neighbour if it had to be split.
func (t *Tree[K, V, A]) put(n *Node[K, V, A], w *insertion[K, V]) (self, right *Node[K, V, A]) {
	n = t.writable(n)
	if t.order.CompareKeys(w.key, n.low) < 0 {
		n.low = w.key
	}
	if n.isLeaf() {
		var i int
		if i, w.replaced = n.find(w.key); w.replaced {
			w.previous = n.values[i]
			n.values[i] = w.value
		} else {
			n.values = slices.Insert(n.values, i, w.value)
		}
	} else {
		i := n.childOf(w.key)
		var split *Node[K, V, A]
		n.children[i], split = t.put(n.children[i], w)
		if split != nil {
			n.children = slices.Insert(n.children, i+1, split)
		}
	}
	n.marked += t.order.marks(w.value)
	if w.replaced {
		n.marked -= t.order.marks(w.previous)
	} else {
		n.count++
	}
	return n, t.split(n)
}

// split moves the right half of a node that is too large to a new node, which it returns.
func (t *Tree[K, V, A]) split(n *Node[K, V, A]) *Node[K, V, A] {
	if n.size() <= Fanout {
		return nil
	}
	half := n.size() / 2
	var right *Node[K, V, A]
	if n.isLeaf() {
		right = t.node(t.order.Key(n.values[half]))
		t.hooks.Made(&right.attachment, &n.attachment)
		right.values = append(make([]V, 0, Fanout), n.values[half:]...)
		clear(n.values[half:])
		n.values = n.values[:half]
	} else {
		right = t.node(n.children[half].low)
		right.children = append(make([]*Node[K, V, A], 0, Fanout), n.children[half:]...)
		clear(n.children[half:])
		n.children = n.children[:half]
	}
	n.sum()
	return right.sum()
}

// take removes the value of a key that is below n, and returns the node that takes n's place. marks is 1 for a marked
// value.
func (t *Tree[K, V, A]) take(n *Node[K, V, A], key K, marks int) *Node[K, V, A] {
	n = t.writable(n)
	n.count--
	n.marked -= marks
	if n.isLeaf() {
		i, _ := n.find(key)
		if n.values = slices.Delete(n.values, i, i+1); len(n.values) == 0 {
			t.hooks.Dropped(&n.attachment)
		}
		return n
	}
	i := n.childOf(key)
	child := t.take(n.children[i], key, marks)
	n.children[i] = child
	switch {
	case child.size() == 0:
		n.children = slices.Delete(n.children, i, i+1)
	case child.size() < Fanout/4 && len(n.children) > 1:
		t.join(n, max(i, 1))
	}
	return n
}

// join makes one node of the children i-1 and i, or two of equal size where they don't fit into one.
func (t *Tree[K, V, A]) join(n *Node[K, V, A], i int) {
	left, right := t.writable(n.children[i-1]), n.children[i]
	left.values = append(left.values, right.values...)
	left.children = append(left.children, right.children...)
	if right.isLeaf() {
		t.hooks.Dropped(&right.attachment)
	}
	left.sum()
	if split := t.split(left); split != nil {
		n.children[i] = split
	} else {
		n.children = slices.Delete(n.children, i, i+1)
	}
	n.children[i-1] = left
}

// marks is 1 for a marked value, else 0.
func (o *Order[K, V]) marks(v V) int {
	if o.Marked != nil && o.Marked(v) {
		return 1
	}
	return 0
}
