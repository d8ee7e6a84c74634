package collector

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"apigen.dev/runtime/api"
)

// hidden are the objects of a resource that can't be read, so that nobody knows on whom they depend. Nothing waits for
// them but what would be undone by them later: once one can be read whose owner is gone it is deleted, as it should have
// been, but for an owner that was to leave its dependents behind.
type hidden struct {
	mu      sync.Mutex // guards all below
	names   map[hiddenName]struct{}
	changes int64 // of names, so far
}

type hiddenName struct{ namespace, name string }

func (h *hidden) any() bool { return h.len() > 0 }

func (h *hidden) len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.names)
}

func (h *hidden) add(n hiddenName) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.names == nil {
		h.names = map[hiddenName]struct{}{}
	}
	h.names[n] = struct{}{}
	h.changes++
}

func (h *hidden) has(n hiddenName) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.names[n]
	return ok
}

// remove tells whether it was there.
func (h *hidden) remove(n hiddenName) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.names[n]
	if ok {
		delete(h.names, n)
		h.changes++
	}
	return ok
}

// forget is for when the state of the resource is about to be read.
func (h *hidden) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.names = nil
	h.changes++
}

// changed counts the changes so far.
func (h *hidden) changed() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changes
}

// within finds one in a namespace, or any where all is true.
func (h *hidden) within(namespace string, all bool) (hiddenName, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for n := range h.names {
		if all || n.namespace == namespace {
			return n, true
		}
	}
	return hiddenName{}, false
}

// unveil observes an event where it is about what can't be read, or may be: it notes what can't be, and what can be again
// or is gone.
func (c *Collector) unveil(r *resource, e *api.Event) (*object, error) {
	m, err := readMetadata(e.Object)
	if err != nil {
		return nil, fmt.Errorf("the metadata of an object of %s: %w", r.gr, err)
	}
	name := hiddenName{m.Namespace, m.Name}
	if e.Type == api.Corrupt {
		r.hidden.add(name) // before the graph forgets it: one of the two has it at any time
		for _, uid := range c.graph.selected(func(o *object) bool { return o.resource == r && o.namespace == m.Namespace && o.name == m.Name }) {
			if before := c.graph.remove(uid); before != nil {
				c.queue.add(c.graph.awaiting(before)...)
			}
		}
		return nil, nil
	}
	var o *object
	if gone := m.UID == "" && r.hidden.has(name); !gone {
		if o, err = c.take(r, e); err != nil {
			return nil, err
		}
	}
	// After the graph has it, for the same reason.
	if !r.hidden.remove(name) {
		return o, nil
	}
	c.queue.add(c.graph.selected((*object).waits)...)
	if m.UID == "" {
		// It is gone, and nobody knows its uid.
		c.queue.add(c.graph.selected(func(o *object) bool {
			return slices.ContainsFunc(o.owners, func(ref reference) bool { return ref.resource == r && ref.name == m.Name })
		})...)
	}
	return o, nil
}

// veils counts the changes so far of what can't be read.
func (c *Collector) veils() (n int64) {
	for _, r := range c.resources {
		n += r.hidden.changed()
	}
	return n
}

// errUnveiled is why an owner is looked at again.
var errUnveiled = errors.New("what can be read changed while its dependents were looked for")

// errHidden is why an owner can't leave its dependents behind.
var errHidden = errors.New("can't be read, and may depend on it")

// hides is the error of an object that can't be read and could depend on the owner; nil where there is none.
func (c *Collector) hides(owner *object) error {
	for _, r := range c.resources {
		if owner.resource.namespaced && !r.namespaced {
			continue
		}
		if n, ok := r.hidden.within(owner.namespace, !owner.resource.namespaced); ok {
			return fmt.Errorf("%s %s/%s %w", r.gr, n.namespace, n.name, errHidden)
		}
	}
	return nil
}
