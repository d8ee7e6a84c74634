package collector

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
)

// set is a set that goroutines share. The zero value is empty.
type set[K comparable] struct {
	mu      sync.Mutex // guards the fields below
	keys    sets.Set[K]
	changes int64 // how often keys changed
}

func (s *set[K]) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.keys)
}

func (s *set[K]) has(key K) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys.Has(key)
}

func (s *set[K]) add(key K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys == nil {
		s.keys = sets.Set[K]{}
	}
	s.keys.Insert(key)
	s.changes++
}

// remove removes a key, and tells whether the set had it.
func (s *set[K]) remove(key K) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.keys.Has(key) {
		return false
	}
	s.keys.Delete(key)
	s.changes++
	return true
}

// clear empties the set, which counts as a change.
func (s *set[K]) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = nil
	s.changes++
}

func (s *set[K]) changed() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes
}

func (s *set[K]) find(pass func(K) bool) (key K, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.keys {
		if pass(key) {
			return key, true
		}
	}
	return key, false
}
