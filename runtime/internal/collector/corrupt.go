package collector

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/verb"
)

// observeCorrupt observes an event of an object that can't be read, or that may have been one: it records objects that
// can't be read, and removes those that can be read again or were deleted.
//
// When an object can be read again and its owner is absent, the collector deletes it then. That would be wrong if the
// owner was deleted with the policy orphan, so only orphaning waits for corrupt objects.
func (c *Collector) observeCorrupt(r *resource, e *verb.Event) (*object, error) {
	m, err := readMetadata(e.Object)
	if err != nil {
		return nil, fmt.Errorf("the metadata of an object of %s: %w", r.gr, err)
	}
	name := objectName{m.Namespace, m.Name}
	if e.Type == api.Corrupt {
		for _, before := range c.graph.addCorrupt(r, name) {
			c.queue.add(c.graph.waitingOwners(before)...)
		}
		return nil, nil
	}
	var o *object
	if gone := m.UID == "" && c.graph.isCorrupt(r, name); !gone {
		if o, err = c.observeReadable(r, e); err != nil {
			return nil, err
		}
	}
	// The graph has the object by now, so that an owner sees either the object or that it is corrupt.
	if !c.graph.removeCorrupt(r, name) {
		return o, nil
	}
	c.queue.add(c.graph.selectUIDs((*object).awaitsDependents)...)
	if m.UID == "" {
		// The object was deleted, and its uid is unknown.
		c.queue.add(c.graph.selectUIDs(func(o *object) bool {
			return slices.ContainsFunc(o.owners, func(ref reference) bool {
				return ref.owner() == r && ref.name == m.Name
			})
		})...)
	}
	return o, nil
}

type objectName struct{ namespace, name string }

// addCorrupt records that an object can't be read, and removes the states of it that the graph had.
func (g *graph) addCorrupt(r *resource, name objectName) (removed []*object) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for uid, o := range g.objects {
		if o.resource == r && o.namespace == name.namespace && o.name == name.name {
			g.unlink(o)
			delete(g.objects, uid)
			removed = append(removed, o)
		}
	}
	if g.corrupt[r] == nil {
		g.corrupt[r] = map[objectName]int{}
	}
	g.corrupt[r][name] = r.replays
	return removed
}

// removeCorrupt records that an object can be read or was deleted, and reports whether it was corrupt before.
func (g *graph) removeCorrupt(r *resource, name objectName) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, had := g.corrupt[r][name]
	delete(g.corrupt[r], name)
	return had
}

// endReplay forgets the corrupt objects that the state of the present watch doesn't have.
func (g *graph) endReplay(r *resource) {
	g.mu.Lock()
	defer g.mu.Unlock()
	maps.DeleteFunc(g.corrupt[r], func(_ objectName, replay int) bool { return replay < r.replays })
}

func (g *graph) isCorrupt(r *resource, name objectName) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, corrupt := g.corrupt[r][name]
	return corrupt
}

func (g *graph) corruptLen(r *resource) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.corrupt[r])
}

// errMayDepend is why the collector can't orphan the dependents of an owner.
var errMayDepend = errors.New("can't be read, and may depend on it")

// readableDependents returns the dependents of an owner. It fails where an object can't be read and may depend on the
// owner.
func (g *graph) readableDependents(owner *object) ([]*object, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for r, names := range g.corrupt {
		if owner.resource.namespaced && !r.namespaced {
			continue
		}
		for n := range names {
			if !owner.resource.namespaced || n.namespace == owner.namespace {
				return nil, fmt.Errorf("%s %s/%s %w", r.gr, n.namespace, n.name, errMayDepend)
			}
		}
	}
	return g.dependentsIn(owner), nil
}
