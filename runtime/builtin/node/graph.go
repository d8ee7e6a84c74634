package node

import (
	"cmp"
	"slices"
	"sync"
)

// kind is a kind of objects in a Graph.
type kind uint8

const (
	pods kind = iota
	secrets
	configMaps
	serviceAccounts
	claims
	volumes
	attachments
	resourceClaims
	resourceSlices
	certificateRequests
	kinds
)

// object names an object of the API. Its namespace is "" for cluster-scoped kinds.
type object struct {
	namespace, name string
	kind            kind
}

func (o object) compare(other object) int {
	return cmp.Or(cmp.Compare(o.kind, other.kind), cmp.Compare(o.namespace, other.namespace),
		cmp.Compare(o.name, other.name))
}

// entry is what an object that the server has says about the graph.
type entry struct {
	// node is the node to which the object belongs, or "".
	node string
	// source is the object whose nodes are also those of this one, or nil: the claim of a volume.
	source *object
	// references are the objects that every node of this one may read, too. They are sorted, and none is there twice.
	references []object
}

func (e *entry) equal(other *entry) bool {
	sameSource := e.source == other.source || e.source != nil && other.source != nil && *e.source == *other.source
	return sameSource && e.node == other.node && slices.Equal(e.references, other.references)
}

// Graph knows which objects the nodes may read. It has the answers ready: a change carries nodes along the references
// (pod to claim to volume to secret, at most), and a question is a look-up. The work of a change grows with the
// references of the changed object, and with the nodes that these gain or lose. A Graph is safe for concurrent use.
type Graph struct {
	// synced is closed when the graph has all objects of the kinds that the server serves.
	synced chan struct{}

	mu sync.RWMutex // guards what follows
	// entries are what the server's objects say, by their kinds.
	entries [kinds]map[object]*entry
	// vertices are the objects that have nodes or followers. They needn't exist.
	vertices map[object]*vertex
}

// vertex is an object in a Graph.
type vertex struct {
	// nodes are those that may read the object, with the number of ways that lead to each: its own node, and the
	// objects that it follows.
	nodes tally
	// followers are the objects that have all nodes of this one.
	followers []object
}

func newGraph() *Graph {
	return &Graph{synced: make(chan struct{}), vertices: map[object]*vertex{}}
}

// has reports whether a node may read an object.
func (g *Graph) has(o object, node string) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	v := g.vertices[o]
	return v != nil && v.nodes.has(node)
}

// put replaces what an object says; nil stands for an object that doesn't exist.
func (g *Graph) put(o object, now *entry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	old := g.entries[o.kind][o]
	if old != nil && now != nil && old.equal(now) {
		return // most changes of pods are changes of their status
	}
	if old != nil {
		g.retract(o, old)
		delete(g.entries[o.kind], o)
	}
	if now != nil {
		if g.entries[o.kind] == nil {
			g.entries[o.kind] = map[object]*entry{}
		}
		g.entries[o.kind][o] = now
		g.assert(o, now)
	}
}

// keep removes all objects of a kind that are not in kept.
func (g *Graph) keep(of kind, kept map[object]bool) {
	g.mu.RLock()
	var gone []object
	for o := range g.entries[of] {
		if !kept[o] {
			gone = append(gone, o)
		}
	}
	g.mu.RUnlock()
	for _, o := range gone {
		g.put(o, nil)
	}
}

func (g *Graph) assert(o object, e *entry) {
	if e.node != "" {
		g.gain(o, e.node)
	}
	if e.source != nil {
		g.follow(o, *e.source)
	}
	for _, reference := range e.references {
		g.follow(reference, o)
	}
}

// retract undoes assert.
func (g *Graph) retract(o object, e *entry) {
	for _, reference := range e.references {
		g.unfollow(reference, o)
	}
	if e.source != nil {
		g.unfollow(o, *e.source)
	}
	if e.node != "" {
		g.lose(o, e.node)
	}
}

// follow gives the nodes of leader to follower, as long as leader has them.
func (g *Graph) follow(follower, leader object) {
	v := g.vertex(leader)
	v.followers = append(v.followers, follower)
	v.nodes.each(func(node string) { g.gain(follower, node) })
}

// unfollow undoes follow.
func (g *Graph) unfollow(follower, leader object) {
	v := g.vertices[leader]
	i := slices.Index(v.followers, follower)
	last := len(v.followers) - 1
	v.followers[i] = v.followers[last]
	v.followers = slices.Delete(v.followers, last, last+1)
	v.nodes.each(func(node string) { g.lose(follower, node) })
	g.dropIfEmpty(leader, v)
}

// gain adds a way from an object to a node. The first way is one for all followers, too.
func (g *Graph) gain(o object, node string) {
	v := g.vertex(o)
	if v.nodes.add(node) {
		for _, follower := range v.followers {
			g.gain(follower, node)
		}
	}
}

// lose removes a way from an object to a node.
func (g *Graph) lose(o object, node string) {
	v := g.vertices[o]
	if v.nodes.remove(node) {
		for _, follower := range v.followers {
			g.lose(follower, node)
		}
		g.dropIfEmpty(o, v)
	}
}

func (g *Graph) vertex(o object) *vertex {
	v := g.vertices[o]
	if v == nil {
		v = &vertex{}
		g.vertices[o] = v
	}
	return v
}

func (g *Graph) dropIfEmpty(o object, v *vertex) {
	if len(v.followers) == 0 && v.nodes.empty() {
		delete(g.vertices, o)
	}
}
