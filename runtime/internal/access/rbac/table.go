package rbac

import (
	"hash/maphash"
	"slices"
)

// table is a persistent map by strings, a hash trie: put and remove copy the path to one leaf and share everything else
// with the table before. A lookup allocates nothing. The zero value is empty.
type table[V any] struct{ root *node[V] }

// node is a leaf with entries, or an inner node with children.
type node[V any] struct {
	entries  []entry[V]
	children *[fanout]*node[V]
}

type entry[V any] struct {
	hash  uint64
	key   string
	value V
}

const (
	// fanout is how many children a node has, and levelBits how many bits of a hash choose one of them.
	fanout    = 16
	levelBits = 4
	// leafSize is how many entries a leaf has at most, unless their hashes are used up.
	leafSize = 8
)

// seed is that of all tables, so that one hash serves for several of them.
var seed = maphash.MakeSeed()

func hashOf(key string) uint64 { return maphash.String(seed, key) }

// get returns the value of a key whose hash is known, or the zero value.
func (t table[V]) get(hash uint64, key string) (value V) {
	n := t.root
	for rest := hash; n != nil; rest >>= levelBits {
		if n.children == nil {
			if i := n.find(hash, key); i >= 0 {
				return n.entries[i].value
			}
			return value
		}
		n = n.children[rest%fanout]
	}
	return value
}

func (n *node[V]) find(hash uint64, key string) int {
	for i := range n.entries {
		if n.entries[i].hash == hash && n.entries[i].key == key {
			return i
		}
	}
	return -1
}

// put returns a table with a value.
func (t table[V]) put(key string, value V) table[V] {
	return table[V]{t.root.put(entry[V]{hashOf(key), key, value}, 0)}
}

func (n *node[V]) put(e entry[V], shift uint) *node[V] {
	switch {
	case n == nil:
		return &node[V]{entries: []entry[V]{e}}
	case n.children != nil:
		children := *n.children
		at := e.hash >> shift % fanout
		children[at] = children[at].put(e, shift+levelBits)
		return &node[V]{children: &children}
	}
	entries := slices.Clone(n.entries)
	if i := n.find(e.hash, e.key); i >= 0 {
		entries[i] = e
	} else {
		entries = append(entries, e)
	}
	if len(entries) <= leafSize || shift >= 64 {
		return &node[V]{entries: entries}
	}
	split := &node[V]{children: &[fanout]*node[V]{}}
	for _, e := range entries {
		at := e.hash >> shift % fanout
		split.children[at] = split.children[at].put(e, shift+levelBits)
	}
	return split
}

// remove returns a table without a key.
func (t table[V]) remove(key string) table[V] {
	hash := hashOf(key)
	if t.root == nil {
		return t
	}
	return table[V]{t.root.remove(hash, key, 0)}
}

// remove returns nil for a node that has become empty.
func (n *node[V]) remove(hash uint64, key string, shift uint) *node[V] {
	if n.children == nil {
		i := n.find(hash, key)
		switch {
		case i < 0:
			return n
		case len(n.entries) == 1:
			return nil
		}
		return &node[V]{entries: slices.Delete(slices.Clone(n.entries), i, i+1)}
	}
	at := hash >> shift % fanout
	if n.children[at] == nil {
		return n
	}
	children := *n.children
	children[at] = children[at].remove(hash, key, shift+levelBits)
	if children == [fanout]*node[V]{} {
		return nil
	}
	return &node[V]{children: &children}
}
