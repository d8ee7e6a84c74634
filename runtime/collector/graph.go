package collector

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// graph is who depends on whom: the notable objects by their uid, and who refers to a uid, whether that is of a notable
// object, of another one or of none. Objects in it are replaced, never changed.
type graph struct {
	mu         sync.Mutex // guards all below; nothing is called while it is held
	objects    map[types.UID]*object
	dependents map[types.UID]map[types.UID]struct{}
	// of counts the objects of a resource.
	of map[*resource]int
}

func newGraph() *graph {
	return &graph{objects: map[types.UID]*object{}, dependents: map[types.UID]map[types.UID]struct{}{}, of: map[*resource]int{}}
}

func (g *graph) len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.objects)
}

func (g *graph) get(uid types.UID) *object {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.objects[uid]
}

// concerns tells whether the removal of an object of the resource could mean something, or a change of one that isn't
// notable.
func (g *graph) concerns(r *resource, removed bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.of[r] > 0 || removed && len(g.dependents) > 0
}

// put takes in an object, in the place of what was known of it, which it returns.
func (g *graph) put(o *object) (before *object) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before = g.objects[o.uid]
	if before != nil {
		g.unlink(before)
		o.asked.Store(before.asked.Load())
	}
	g.objects[o.uid] = o
	g.of[o.resource]++
	for i := range o.owners {
		owner := o.owners[i].uid
		if g.dependents[owner] == nil {
			g.dependents[owner] = map[types.UID]struct{}{}
		}
		g.dependents[owner][o.uid] = struct{}{}
	}
	return before
}

// remove forgets an object, and returns what was known of it.
func (g *graph) remove(uid types.UID) *object {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.objects[uid]
	if before != nil {
		g.unlink(before)
		delete(g.objects, uid)
	}
	return before
}

func (g *graph) unlink(o *object) {
	g.of[o.resource]--
	for i := range o.owners {
		owner := o.owners[i].uid
		delete(g.dependents[owner], o.uid)
		if len(g.dependents[owner]) == 0 {
			delete(g.dependents, owner)
		}
	}
}

// refer are the uids of all that refer to a uid, rightly or not.
func (g *graph) refer(uid types.UID) []types.UID {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := make([]types.UID, 0, len(g.dependents[uid]))
	for dependent := range g.dependents[uid] {
		all = append(all, dependent)
	}
	return all
}

// awaiting are those owners of an object whose deletion waits for their dependents.
func (g *graph) awaiting(o *object) (all []types.UID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range o.owners {
		if owner := g.objects[o.owners[i].uid]; owner != nil && owner.waits() {
			all = append(all, owner.uid)
		}
	}
	return all
}

// dependentsOf are the objects that depend on one.
func (g *graph) dependentsOf(owner *object) []*object {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []*object
	for uid := range g.dependents[owner.uid] {
		if o := g.objects[uid]; o.owned(owner) != nil {
			all = append(all, o)
		}
	}
	return all
}

// selected returns the uids of the objects that pass.
func (g *graph) selected(pass func(*object) bool) (all []types.UID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for uid, o := range g.objects {
		if pass(o) {
			all = append(all, uid)
		}
	}
	return all
}

// blocked tells whether an object that is deleted in the foreground must wait for others. What waits for itself, through
// others that all wait likewise, would do so for ever, and isn't blocked by them.
func (g *graph) blocked(o *object) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	ring := false
	seen := map[types.UID]bool{o.uid: true}
	for open := []*object{o}; len(open) > 0; {
		next := open[len(open)-1]
		open = open[:len(open)-1]
		blockers, leading := g.blockers(next)
		switch {
		case !leading:
			return true // one of them is not deleted in the foreground, and goes its own way
		case len(blockers) == 0 && next == o:
			return false
		case len(blockers) == 0:
			return true // it is about to go
		}
		for _, b := range blockers {
			ring = ring || b.uid == o.uid
			if !seen[b.uid] {
				seen[b.uid] = true
				open = append(open, b)
			}
		}
	}
	return !ring
}

// blockers are the dependents, but for the object itself, that must be gone before it; leading tells that all of them
// are being deleted in the foreground. They are incomplete where not.
func (g *graph) blockers(owner *object) (all []*object, leading bool) {
	for uid := range g.dependents[owner.uid] {
		o := g.objects[uid]
		if o.uid == owner.uid {
			continue
		}
		if ref := o.owned(owner); ref == nil || !ref.blocks {
			continue
		}
		if !o.leads() {
			return nil, false
		}
		all = append(all, o)
	}
	return all, true
}
