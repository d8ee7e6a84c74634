package collector

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"apigen.dev/runtime/api"
	"k8s.io/apimachinery/pkg/util/sets"
)

// corruptObjects are the objects of a resource that can't be read, so that their owners are unknown. When one of them
// can be read again and its owner is absent, the collector deletes it then. That would be wrong if the owner was
// deleted with the policy orphan, so only orphaning waits for corrupt objects.
type corruptObjects = set[objectName]

type objectName struct{ namespace, name string }

// observeCorrupt observes an event of an object that can't be read, or that may have been one: it records objects that
// can't be read, and removes those that can be read again or were deleted.
func (c *Collector) observeCorrupt(r *resource, e *api.Event) (*object, error) {
	m, err := readMetadata(e.Object)
	if err != nil {
		return nil, fmt.Errorf("the metadata of an object of %s: %w", r.gr, err)
	}
	name := objectName{m.Namespace, m.Name}
	if e.Type == api.Corrupt {
		r.corrupt.add(name) // before the graph removes it, so that one of the two has it at any time
		known := c.graph.selectUIDs(func(o *object) bool {
			return o.resource == r && o.namespace == m.Namespace && o.name == m.Name
		})
		for _, uid := range known {
			c.forget(uid)
		}
		return nil, nil
	}
	var o *object
	if gone := m.UID == "" && r.corrupt.has(name); !gone {
		if o, err = c.observeReadable(r, e); err != nil {
			return nil, err
		}
	}
	// The set loses the object after the graph has it, for the same reason.
	if !r.corrupt.remove(name) {
		return o, nil
	}
	c.queue.add(c.graph.selectUIDs((*object).awaitsDependents)...)
	if m.UID == "" {
		// The object was deleted, and its uid is unknown.
		c.queue.add(c.graph.selectUIDs(func(o *object) bool {
			return slices.ContainsFunc(o.owners, func(ref reference) bool {
				return ref.resource == r && ref.name == m.Name
			})
		})...)
	}
	return o, nil
}

func (c *Collector) corruptChanges() (n int64) {
	for _, r := range c.resources {
		n += r.corrupt.changed()
	}
	return n
}

// errCorruptChanged makes the collector retry an owner.
var errCorruptChanged = errors.New("the set of corrupt objects changed while its dependents were searched")

// errMayDepend is why the collector can't orphan the dependents of an owner.
var errMayDepend = errors.New("can't be read, and may depend on it")

// corruptDependent returns an error that names an object which can't be read and may depend on the owner, or nil.
func (c *Collector) corruptDependent(owner *object) error {
	for _, r := range c.resources {
		if owner.resource.namespaced && !r.namespaced {
			continue
		}
		may := func(n objectName) bool { return !owner.resource.namespaced || n.namespace == owner.namespace }
		if n, ok := r.corrupt.find(may); ok {
			return fmt.Errorf("%s %s/%s %w", r.gr, n.namespace, n.name, errMayDepend)
		}
	}
	return nil
}

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
