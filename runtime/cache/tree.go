package cache

import (
	"slices"
	"sync/atomic"
)

// fanout bounds the children of a node and the entries of a leaf.
const fanout = 32

// tree is the writer's hand on a persistent B-tree of entries in one order. A write copies its path; nodes that this
// hand made since the last freeze are written in place. Frozen roots are immutable and shared with readers.
type tree struct {
	root  *node
	owner *owner
	order order
}

// slot is an entry in a leaf, with its sign beside it: a reader who looks for something passes over the others without
// touching them.
type slot struct {
	sign  sign
	entry *Entry
}

// owner marks the nodes that one hand may write to. It isn't empty, so that each one has an address of its own.
type owner struct {
	// past: the hand makes a state of the past again, for one reader.
	past bool
}

// node is a leaf, which holds entries, or an inner node, which holds children.
type node struct {
	owner    *owner
	order    order
	low      position // at most the first one below, and above all below the left neighbour
	entries  []slot
	children []*node
	count    int // entries below
	poisoned int // of these, those that could not be decoded
	// sheets are those that were asked for, and before those of the leaf that this one took the place of.
	sheets atomic.Pointer[sheet]
	before []*sheet
	// replaced: another leaf took its place, so that what is joined for this one is of no use to others.
	replaced atomic.Bool
}

// buildTree makes a tree of entries that are in ascending order.
func buildTree(entries []*Entry, o order) tree {
	t := tree{owner: &owner{}, order: o}
	var level []*node
	for part := range slices.Chunk(entries, fanout*3/4) {
		leaf := &node{owner: t.owner, order: o, low: o.position(part[0]), entries: make([]slot, len(part))}
		for i, e := range part {
			leaf.entries[i] = slot{e.sign, e}
		}
		level = append(level, leaf.sum())
	}
	for len(level) > 1 {
		var above []*node
		for part := range slices.Chunk(level, fanout*3/4) {
			above = append(above, (&node{owner: t.owner, order: o, low: part[0].low, children: slices.Clone(part)}).sum())
		}
		level = above
	}
	if len(level) == 1 {
		t.root = level[0]
	}
	return t
}

// freeze returns a root that never changes again.
func (t *tree) freeze() *node {
	t.owner = &owner{}
	return t.root
}

// set puts an entry in the place of the one at its position, which it returns, or nil.
func (t *tree) set(e *Entry) *Entry {
	at := t.order.position(e)
	if t.root == nil {
		t.root = &node{owner: t.owner, order: t.order, low: at}
	}
	root, right, previous := t.put(t.root, at, e)
	if right != nil {
		root = (&node{owner: t.owner, order: t.order, low: root.low, children: []*node{root, right}}).sum()
	}
	t.root = root
	return previous
}

// replace does for the tree of an index what was done to that of all keys: e took the place of previous; one may be nil.
func (t *tree) replace(previous, e *Entry) {
	if previous != nil && (e == nil || t.order.compare(previous, t.order.position(e)) != 0) {
		t.remove(t.order.position(previous))
	}
	if e != nil {
		t.set(e)
	}
}

// remove takes the entry at a position away and returns it, or nil where there is none.
func (t *tree) remove(at position) *Entry {
	previous := t.root.get(at)
	if previous == nil {
		return nil
	}
	root := t.take(t.root, at, previous)
	for len(root.children) == 1 {
		root = root.children[0]
	}
	if root.count == 0 {
		root = nil
	}
	t.root = root
	return previous
}

// writable returns n, or a copy of it where it belongs to others.
func (t *tree) writable(n *node) *node {
	if n.owner == t.owner {
		return n
	}
	c := &node{owner: t.owner, order: n.order, low: n.low, count: n.count, poisoned: n.poisoned}
	if n.leaf() {
		c.before = t.inherit(n)
		c.entries = append(make([]slot, 0, len(n.entries)+1), n.entries...)
	} else {
		c.children = append(make([]*node, 0, len(n.children)+1), n.children...)
	}
	return c
}

// put returns the node that takes n's place, its new right neighbour where it had to be split, and what e replaced.
func (t *tree) put(n *node, at position, e *Entry) (self, right *node, previous *Entry) {
	n = t.writable(n)
	if at.compare(n.low) < 0 {
		n.low = at
	}
	if n.leaf() {
		i, found := n.find(at)
		if found {
			previous = n.entries[i].entry
			n.entries[i] = slot{e.sign, e}
		} else {
			n.entries = slices.Insert(n.entries, i, slot{e.sign, e})
		}
	} else {
		i := n.childOf(at)
		var split *node
		n.children[i], split, previous = t.put(n.children[i], at, e)
		if split != nil {
			n.children = slices.Insert(n.children, i+1, split)
		}
	}
	n.poisoned += poison(e) - poison(previous)
	if previous == nil {
		n.count++
	}
	return n, t.split(n), previous
}

// split moves the right half of a node that is too large to a new one, which it returns.
func (t *tree) split(n *node) *node {
	if n.size() <= fanout {
		return nil
	}
	half := n.size() / 2
	right := &node{owner: t.owner, order: t.order}
	if n.leaf() {
		right.entries = append(make([]slot, 0, fanout), n.entries[half:]...)
		right.before = n.before
		right.low = t.order.position(right.entries[0].entry)
		clear(n.entries[half:])
		n.entries = n.entries[:half]
	} else {
		right.children = append(make([]*node, 0, fanout), n.children[half:]...)
		right.low = right.children[0].low
		clear(n.children[half:])
		n.children = n.children[:half]
	}
	n.sum()
	return right.sum()
}

// take removes the entry e, which stands at a position below n, and returns the node that takes n's place.
func (t *tree) take(n *node, at position, e *Entry) *node {
	n = t.writable(n)
	n.count--
	n.poisoned -= poison(e)
	if n.leaf() {
		i, _ := n.find(at)
		if n.entries = slices.Delete(n.entries, i, i+1); len(n.entries) == 0 {
			t.abandon(n)
		}
		return n
	}
	i := n.childOf(at)
	child := t.take(n.children[i], at, e)
	n.children[i] = child
	switch {
	case child.size() == 0:
		n.children = slices.Delete(n.children, i, i+1)
	case child.size() < fanout/4 && len(n.children) > 1:
		t.join(n, max(i, 1))
	}
	return n
}

// join makes one node of the children i-1 and i, or two of equal size where they don't fit into one.
func (t *tree) join(n *node, i int) {
	left, right := t.writable(n.children[i-1]), n.children[i]
	left.entries = append(left.entries, right.entries...)
	left.children = append(left.children, right.children...)
	if right.leaf() {
		t.abandon(right)
	}
	left.sum()
	if rest := t.split(left); rest != nil {
		n.children[i] = rest
	} else {
		n.children = slices.Delete(n.children, i, i+1)
	}
	n.children[i-1] = left
}

func (n *node) leaf() bool { return n.children == nil }

func (n *node) size() int { return len(n.entries) + len(n.children) }

// sum counts anew what is below, and returns n.
func (n *node) sum() *node {
	n.count, n.poisoned = len(n.entries), 0
	for _, s := range n.entries {
		n.poisoned += poison(s.entry)
	}
	for _, c := range n.children {
		n.count += c.count
		n.poisoned += c.poisoned
	}
	return n
}

// find returns the place of a position in a leaf, and whether it is taken.
func (n *node) find(at position) (int, bool) {
	low, high := 0, len(n.entries)
	for low < high {
		mid := (low + high) / 2
		if n.order.compare(n.entries[mid].entry, at) < 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < len(n.entries) && n.order.compare(n.entries[low].entry, at) == 0
}

// childOf returns the index of the child below which a position belongs.
func (n *node) childOf(at position) int {
	low, high := 1, len(n.children)
	for low < high {
		mid := (low + high) / 2
		if n.children[mid].low.compare(at) <= 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low - 1
}

// get returns the entry at a position, or nil.
func (n *node) get(at position) *Entry {
	if n == nil {
		return nil
	}
	for !n.leaf() {
		n = n.children[n.childOf(at)]
	}
	if i, found := n.find(at); found {
		return n.entries[i].entry
	}
	return nil
}

// rank is the number of entries that stand before a position.
func (n *node) rank(at position) int {
	if n == nil {
		return 0
	}
	rank := 0
	for !n.leaf() {
		i := n.childOf(at)
		for _, c := range n.children[:i] {
			rank += c.count
		}
		n = n.children[i]
	}
	i, _ := n.find(at)
	return rank + i
}

// nth returns the entry that n others stand before, or nil.
func (n *node) nth(rank int) *Entry {
	if n == nil || rank < 0 || rank >= n.count {
		return nil
	}
	for !n.leaf() {
		for _, c := range n.children {
			if rank < c.count {
				n = c
				break
			}
			rank -= c.count
		}
	}
	return n.entries[rank].entry
}

// walk yields the entries from one position (inclusive) to another (exclusive) whose sign passes, until yield returns
// false, which it then returns too.
func (n *node) walk(from, end position, l *Lookup, yield func(*Entry) bool) bool {
	return n.leaves(from, end, func(leaf *node, first, last int) bool {
		for _, s := range leaf.entries[first:last] {
			if l.passes(s.sign) && !yield(s.entry) {
				return false
			}
		}
		return true
	})
}

// leaves yields the leaves that have entries from one position (inclusive) to another (exclusive), and which of their
// entries these are, until yield returns false, which it then returns too. A zero position is no bound: only the paths to
// the two ends compare anything.
func (n *node) leaves(from, end position, yield func(leaf *node, first, last int) bool) bool {
	if n == nil {
		return true
	}
	first, last := n.span(from, end)
	if n.leaf() {
		return first >= last || yield(n, first, last)
	}
	for i := first; i < last; i++ {
		var low, high position
		if i == first {
			low = from
		}
		if i == last-1 {
			high = end
		}
		if !n.children[i].leaves(low, high, yield) {
			return false
		}
	}
	return true
}

// span returns which entries of a leaf lie between two positions, or the children of an inner node below which they do.
func (n *node) span(from, end position) (first, last int) {
	last = n.size()
	if n.leaf() {
		if !from.unbounded() {
			first, _ = n.find(from)
		}
		if !end.unbounded() {
			last, _ = n.find(end)
		}
		return first, last
	}
	if !from.unbounded() {
		first = n.childOf(from)
	}
	if !end.unbounded() {
		last = n.childOf(end) + 1
	}
	return first, last
}

// firstPoisoned returns the first poisoned entry from one position (inclusive) to another (exclusive), or nil. It visits
// only subtrees that hold one.
func (n *node) firstPoisoned(from, end position) *Entry {
	if n == nil || n.poisoned == 0 {
		return nil
	}
	for _, s := range n.entries {
		if e := s.entry; e.Err() != nil && n.order.compare(e, from) >= 0 && (end.unbounded() || n.order.compare(e, end) < 0) {
			return e
		}
	}
	if n.leaf() {
		return nil
	}
	for _, c := range n.children[n.childOf(from):] {
		if !end.unbounded() && c.low.compare(end) >= 0 {
			return nil
		}
		if e := c.firstPoisoned(from, end); e != nil {
			return e
		}
	}
	return nil
}

// poison is 1 for an entry that could not be decoded.
func poison(e *Entry) int {
	if e != nil && e.Err() != nil {
		return 1
	}
	return 0
}
