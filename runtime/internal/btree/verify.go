package btree

import "fmt"

// Verify checks the invariants of a state: the order of its values, the sizes of its nodes, their depth and their
// counts.
func (n *Node[K, V, A]) Verify() error {
	if n == nil {
		return nil
	}
	_, err := n.verify(&verification[K, V]{})
	return err
}

type verification[K comparable, V any] struct {
	last    V
	started bool
	// low and high bound the keys below the node that is visited next; the zero key means no bound.
	low, high K
}

// verify checks the subtree below n, and returns its depth.
func (n *Node[K, V, A]) verify(seen *verification[K, V]) (depth int, err error) {
	if n.size() == 0 || n.size() > Fanout || (len(n.values) > 0 && len(n.children) > 0) {
		return 0, fmt.Errorf("the node at %v has %d values and %d children", n.low, len(n.values), len(n.children))
	}
	low, high := seen.low, seen.high
	if !n.order.within(n.low, low, high) {
		return 0, fmt.Errorf("the node at %v lies outside of %v to %v", n.low, low, high)
	}
	count, marked := 0, 0
	for _, v := range n.values {
		key := n.order.Key(v)
		if seen.started && n.order.Compare(seen.last, key) >= 0 || !n.order.within(key, n.low, high) {
			return 0, fmt.Errorf("%v is out of order in the node at %v", key, n.low)
		}
		seen.last, seen.started = v, true
		count, marked = count+1, marked+n.order.marks(v)
	}
	for i, c := range n.children {
		seen.low, seen.high = n.low, high
		if i+1 < len(n.children) {
			seen.high = n.children[i+1].low
		}
		d, err := c.verify(seen)
		if err != nil {
			return 0, err
		}
		if i > 0 && d != depth {
			return 0, fmt.Errorf("the leaves below %v are not at one depth", n.low)
		}
		depth = d
		count, marked = count+c.count, marked+c.marked
	}
	if count != n.count || marked != n.marked {
		return 0, fmt.Errorf("the node at %v counts %d values, %d of them marked, and has %d and %d",
			n.low, n.count, n.marked, count, marked)
	}
	return depth + 1, nil
}

// within reports whether a key lies from low (inclusive) to high (exclusive).
func (o *Order[K, V]) within(key, low, high K) bool {
	var unbounded K
	return (low == unbounded || o.CompareKeys(key, low) >= 0) && (high == unbounded || o.CompareKeys(key, high) < 0)
}
