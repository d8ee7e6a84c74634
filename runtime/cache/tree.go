package cache

import "slices"

// fanout bounds the children of a node and the entries of a leaf.
const fanout = 32

// tree is the writer's hand on a persistent B-tree of entries in key order. A write copies its path; nodes that this
// hand made since the last freeze are written in place. Frozen roots are immutable and shared with readers.
type tree struct {
	root  *node
	owner *owner
}

// owner marks the nodes that one hand may write to. It isn't empty, so that each one has an address of its own.
type owner struct{ _ byte }

// node is a leaf, which holds entries, or an inner node, which holds children.
type node struct {
	owner    *owner
	low      string // at most the first key below, and above every key below the left neighbour
	entries  []*Entry
	children []*node
	count    int // entries below
	poisoned int // of these, those that could not be decoded
}

// buildTree makes a tree of entries that are in ascending order of their keys.
func buildTree(entries []*Entry) tree {
	t := tree{owner: &owner{}}
	var level []*node
	for part := range slices.Chunk(entries, fanout*3/4) {
		level = append(level, (&node{owner: t.owner, low: part[0].Key(), entries: slices.Clone(part)}).sum())
	}
	for len(level) > 1 {
		var above []*node
		for part := range slices.Chunk(level, fanout*3/4) {
			above = append(above, (&node{owner: t.owner, low: part[0].low, children: slices.Clone(part)}).sum())
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

// set puts an entry in the place of the one that has its key, which it returns, or nil.
func (t *tree) set(e *Entry) *Entry {
	if t.root == nil {
		t.root = &node{owner: t.owner, low: e.Key()}
	}
	root, right, previous := t.put(t.root, e)
	if right != nil {
		root = (&node{owner: t.owner, low: root.low, children: []*node{root, right}}).sum()
	}
	t.root = root
	return previous
}

// remove takes the entry of key away and returns it, or nil where there is none.
func (t *tree) remove(key string) *Entry {
	previous := t.root.get(key)
	if previous == nil {
		return nil
	}
	root := t.take(t.root, key, previous)
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
	c := *n
	c.owner = t.owner
	if n.leaf() {
		c.entries = append(make([]*Entry, 0, len(n.entries)+1), n.entries...)
	} else {
		c.children = append(make([]*node, 0, len(n.children)+1), n.children...)
	}
	return &c
}

// put returns the node that takes n's place, its new right neighbour where it had to be split, and what e replaced.
func (t *tree) put(n *node, e *Entry) (self, right *node, previous *Entry) {
	n = t.writable(n)
	key := e.Key()
	if key < n.low {
		n.low = key
	}
	if n.leaf() {
		i, found := n.find(key)
		if found {
			previous = n.entries[i]
			n.entries[i] = e
		} else {
			n.entries = slices.Insert(n.entries, i, e)
		}
	} else {
		i := n.childOf(key)
		var split *node
		n.children[i], split, previous = t.put(n.children[i], e)
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
	right := &node{owner: t.owner}
	if n.leaf() {
		right.entries = append(make([]*Entry, 0, fanout), n.entries[half:]...)
		right.low = right.entries[0].Key()
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

// take removes key, which is there and belongs to e, below n and returns the node that takes n's place.
func (t *tree) take(n *node, key string, e *Entry) *node {
	n = t.writable(n)
	n.count--
	n.poisoned -= poison(e)
	if n.leaf() {
		i, _ := n.find(key)
		n.entries = slices.Delete(n.entries, i, i+1)
		return n
	}
	i := n.childOf(key)
	child := t.take(n.children[i], key, e)
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
	for _, e := range n.entries {
		n.poisoned += poison(e)
	}
	for _, c := range n.children {
		n.count += c.count
		n.poisoned += c.poisoned
	}
	return n
}

// find returns the place of key in a leaf, and whether it is taken.
func (n *node) find(key string) (int, bool) {
	low, high := 0, len(n.entries)
	for low < high {
		mid := (low + high) / 2
		if n.entries[mid].Key() < key {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < len(n.entries) && n.entries[low].Key() == key
}

// childOf returns the index of the child below which key belongs.
func (n *node) childOf(key string) int {
	low, high := 1, len(n.children)
	for low < high {
		mid := (low + high) / 2
		if n.children[mid].low <= key {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low - 1
}

// get returns the entry of key, or nil.
func (n *node) get(key string) *Entry {
	if n == nil {
		return nil
	}
	for !n.leaf() {
		n = n.children[n.childOf(key)]
	}
	if i, found := n.find(key); found {
		return n.entries[i]
	}
	return nil
}

// rank is the number of entries whose key is below key.
func (n *node) rank(key string) int {
	if n == nil {
		return 0
	}
	rank := 0
	for !n.leaf() {
		i := n.childOf(key)
		for _, c := range n.children[:i] {
			rank += c.count
		}
		n = n.children[i]
	}
	i, _ := n.find(key)
	return rank + i
}

// walk yields the entries of the keys from (inclusive) to end (exclusive; "" is no bound) until yield returns false, which it
// then returns too.
func (n *node) walk(from, end string, yield func(*Entry) bool) bool {
	if n == nil {
		return true
	}
	if !n.leaf() {
		for _, c := range n.children[n.childOf(from):] {
			if end != "" && c.low >= end {
				return true
			}
			if !c.walk(from, end, yield) {
				return false
			}
		}
		return true
	}
	i, _ := n.find(from)
	j := len(n.entries)
	if end != "" && j > 0 && n.entries[j-1].Key() >= end {
		j, _ = n.find(end)
	}
	for ; i < j; i++ {
		if !yield(n.entries[i]) {
			return false
		}
	}
	return true
}

// firstPoisoned returns the first poisoned entry of the keys from (inclusive) to end (exclusive; "" is no bound), or nil. It
// visits only subtrees that hold one.
func (n *node) firstPoisoned(from, end string) *Entry {
	if n == nil || n.poisoned == 0 {
		return nil
	}
	for _, e := range n.entries {
		if e.Err() != nil && e.Key() >= from && (end == "" || e.Key() < end) {
			return e
		}
	}
	if n.leaf() {
		return nil
	}
	for _, c := range n.children[n.childOf(from):] {
		if end != "" && c.low >= end {
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

// prefixEnd is the first string behind all that begin with prefix; "" where there is none.
func prefixEnd(prefix string) string {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			return prefix[:i] + string([]byte{prefix[i] + 1})
		}
	}
	return ""
}
