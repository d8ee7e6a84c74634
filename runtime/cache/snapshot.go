package cache

import "iter"

// Snapshot is the state at one revision. It is immutable; readers take no lock.
type Snapshot struct {
	revision int64
	root     *node
}

// Revision is the backend's revision that the snapshot shows.
func (s *Snapshot) Revision() int64 { return s.revision }

// Get returns the entry of key, or nil.
func (s *Snapshot) Get(key string) *Entry { return s.root.get(key) }

// Count returns the number of entries whose key begins with prefix and is not below from ("" is all of the prefix), in
// logarithmic time.
func (s *Snapshot) Count(prefix, from string) int {
	if s.root == nil {
		return 0
	}
	before, all := s.root.rank(max(prefix, from)), s.root.count
	if end := prefixEnd(prefix); end != "" {
		all = s.root.rank(end)
	}
	return max(all-before, 0)
}

// Entries yields the entries whose key begins with prefix, beginning at from (inclusive; "" is the prefix's first), in
// key order.
func (s *Snapshot) Entries(prefix, from string) iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		end := prefixEnd(prefix)
		if from = max(prefix, from); end == "" || from < end {
			s.root.walk(from, end, yield)
		}
	}
}

// Poisoned returns the first entry below prefix that could not be decoded, or nil; in constant time where there is none.
func (s *Snapshot) Poisoned(prefix string) *Entry {
	return s.root.firstPoisoned(prefix, prefixEnd(prefix))
}
