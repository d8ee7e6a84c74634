package collector

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"apigen.dev/runtime/internal/verb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
)

// graph has the relevant objects by their uids, and the objects that refer to a uid, whether it is the uid of a
// relevant object, of another object or of none. The graph replaces objects, and never changes them.
type graph struct {
	mu         sync.Mutex // guards the fields below; the graph calls nothing while it holds mu
	objects    map[types.UID]*object
	dependents map[types.UID]sets.Set[types.UID]
	// counts are the numbers of objects of each resource.
	counts map[*resource]int
	// corrupt are the objects of each resource that can't be read, so that their owners are unknown, and the number of
	// the replay that found them. An object isn't in corrupt and in objects at the same time, but while it becomes
	// readable.
	corrupt map[*resource]map[objectName]int
}

func newGraph() *graph {
	return &graph{
		objects: map[types.UID]*object{}, dependents: map[types.UID]sets.Set[types.UID]{},
		counts: map[*resource]int{}, corrupt: map[*resource]map[objectName]int{},
	}
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

// concerns reports whether the graph may have to change with an object that is removed or isn't relevant.
func (g *graph) concerns(r *resource, removed bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.counts[r] > 0 || removed && len(g.dependents) > 0
}

// put adds an object, and returns the object that it replaces, or nil.
func (g *graph) put(o *object) (before *object) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before = g.objects[o.uid]
	if before != nil {
		g.unlink(before)
		o.asked.Store(before.asked.Load())
	}
	g.objects[o.uid] = o
	g.counts[o.resource]++
	for i := range o.owners {
		owner := o.owners[i].uid
		if g.dependents[owner] == nil {
			g.dependents[owner] = sets.Set[types.UID]{}
		}
		g.dependents[owner].Insert(o.uid)
	}
	return before
}

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
	g.counts[o.resource]--
	for i := range o.owners {
		owner := o.owners[i].uid
		g.dependents[owner].Delete(o.uid)
		if len(g.dependents[owner]) == 0 {
			delete(g.dependents, owner)
		}
	}
}

// referrers returns the uids of all objects with a reference to a uid, even if its kind or name is wrong.
func (g *graph) referrers(uid types.UID) []types.UID {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dependents[uid].UnsortedList()
}

// waitingOwners returns the owners of an object whose deletion waits for dependents.
func (g *graph) waitingOwners(o *object) (all []types.UID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range o.owners {
		if owner := g.objects[o.owners[i].uid]; owner != nil && owner.awaitsDependents() {
			all = append(all, owner.uid)
		}
	}
	return all
}

func (g *graph) dependentsOf(owner *object) []*object {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dependentsIn(owner)
}

// dependentsIn is dependentsOf for a caller that holds the lock.
func (g *graph) dependentsIn(owner *object) (all []*object) {
	for uid := range g.dependents[owner.uid] {
		if o := g.objects[uid]; o.referenceTo(owner) != nil {
			all = append(all, o)
		}
	}
	return all
}

func (g *graph) selectUIDs(pass func(*object) bool) (all []types.UID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for uid, o := range g.objects {
		if pass(o) {
			all = append(all, uid)
		}
	}
	return all
}

// referrersTo returns the uids of all objects with a reference to an object of a resource.
func (g *graph) referrersTo(r *resource) []types.UID {
	return g.selectUIDs(func(o *object) bool {
		return slices.ContainsFunc(o.owners, func(ref reference) bool { return ref.owner() == r })
	})
}

// blocked reports whether an object that is deleted in the foreground must wait for dependents. Objects that wait for
// each other in a ring, and for nothing else, would wait for ever, so they don't block each other.
func (g *graph) blocked(o *object) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	ring := false
	seen := map[types.UID]bool{o.uid: true}
	for open := []*object{o}; len(open) > 0; {
		next := open[len(open)-1]
		open = open[:len(open)-1]
		blockers, foreground := g.blockers(next)
		switch {
		case !foreground:
			return true // one of them isn't deleted in the foreground, so it waits for nobody
		case len(blockers) == 0 && next == o:
			return false
		case len(blockers) == 0:
			return true // its deletion is about to end
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

// blockers returns the dependents that must be deleted before an object, except for the object itself. foreground tells
// whether all of them are being deleted in the foreground; if not, the result is incomplete.
func (g *graph) blockers(owner *object) (all []*object, foreground bool) {
	for uid := range g.dependents[owner.uid] {
		o := g.objects[uid]
		if o.uid == owner.uid {
			continue
		}
		if ref := o.referenceTo(owner); ref == nil || !ref.blocks {
			continue
		}
		if !o.isForeground() {
			return nil, false
		}
		all = append(all, o)
	}
	return all, true
}

// object is an object in the graph. It is immutable except for the atomic field.
type object struct {
	resource        *resource
	namespace, name string
	uid             types.UID
	resourceVersion string
	// version is resourceVersion as a revision of this server's storage; 0 for an object of another server.
	version int64
	owners  []reference
	// deleting reports whether it has a deletionTimestamp; foreground and orphan tell whether it has the finalizer.
	deleting, foreground, orphan bool
	// asked is when its dependents were last queued, in nanoseconds since the collector started; 0 means never.
	asked atomic.Int64
}

// reference is a reference to an owner. Its kind is nil if there were too many kinds: see kinds.
type reference struct {
	kind   *kind
	name   string
	uid    types.UID
	blocks bool
}

// owner returns the resource of the owner, nil if the server doesn't serve the kind.
func (r *reference) owner() *resource {
	if r.kind == nil {
		return nil
	}
	return r.kind.resource.Load()
}

func (o *object) String() string {
	if o.namespace == "" {
		return fmt.Sprintf("%s %s", o.resource.gr, o.name)
	}
	return fmt.Sprintf("%s %s/%s", o.resource.gr, o.namespace, o.name)
}

// isRelevant reports whether the graph must have the object.
func (o *object) isRelevant() bool { return len(o.owners) > 0 || o.awaitsDependents() }

// awaitsDependents reports whether the deletion of the object waits for its dependents.
func (o *object) awaitsDependents() bool { return o.deleting && (o.foreground || o.orphan) }

// isForeground reports whether the object is being deleted in the foreground.
func (o *object) isForeground() bool { return o.deleting && o.foreground && !o.orphan }

// sameAs reports whether two states of an object are the same for the collector.
func (o *object) sameAs(other *object) bool {
	return o.deleting == other.deleting && o.foreground == other.foreground && o.orphan == other.orphan &&
		slices.Equal(o.owners, other.owners)
}

// referenceTo returns the reference by which o depends on owner, or nil. It must have the uid, the kind and the name of
// owner.
func (o *object) referenceTo(owner *object) *reference {
	for i := range o.owners {
		r := &o.owners[i]
		if r.uid == owner.uid && r.owner() == owner.resource && r.name == owner.name &&
			(!owner.resource.namespaced || owner.namespace == o.namespace) {
			return r
		}
	}
	return nil
}

type metadata struct {
	Name              string                  `json:"name"`
	Namespace         string                  `json:"namespace"`
	UID               types.UID               `json:"uid"`
	ResourceVersion   string                  `json:"resourceVersion"`
	DeletionTimestamp *string                 `json:"deletionTimestamp"`
	Finalizers        []string                `json:"finalizers"`
	OwnerReferences   []metav1.OwnerReference `json:"ownerReferences"`
}

var metadataKey = []byte(`"metadata":`)

// readMetadata decodes an object's metadata, which is usually its first member.
func readMetadata(r verb.Rendition) (m metadata, err error) {
	if inside, ok := bytes.CutPrefix(r.Payload, metadataKey); ok {
		err = json.NewDecoder(bytes.NewReader(inside)).Decode(&m)
		return m, err
	}
	var whole struct {
		Metadata metadata `json:"metadata"`
	}
	err = json.Unmarshal(slices.Concat([]byte{'{'}, r.Payload), &whole)
	return whole.Metadata, err
}

// mayBeRelevant reports whether an object may be relevant. It searches the bytes and doesn't decode them.
func mayBeRelevant(r verb.Rendition) bool {
	return bytes.Contains(r.Payload, []byte(`"ownerReferences":`)) ||
		bytes.Contains(r.Payload, []byte(`"deletionTimestamp":`))
}

func (r *resource) object(m *metadata) (*object, error) {
	var version int64
	if r.remote == nil {
		var err error
		if version, err = strconv.ParseInt(m.ResourceVersion, 10, 64); err != nil {
			return nil, fmt.Errorf("the resourceVersion of %s %s/%s: %w", r.gr, m.Namespace, m.Name, err)
		}
	}
	o := &object{
		resource: r, namespace: m.Namespace, name: m.Name, uid: m.UID, resourceVersion: m.ResourceVersion,
		version: version, deleting: m.DeletionTimestamp != nil,
		foreground: slices.Contains(m.Finalizers, metav1.FinalizerDeleteDependents),
		orphan:     slices.Contains(m.Finalizers, metav1.FinalizerOrphanDependents),
	}
	for i := range m.OwnerReferences {
		ref := &m.OwnerReferences[i]
		// The version doesn't matter: the server may not serve it any more, and the uid identifies the owner.
		group := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
		o.owners = append(o.owners, reference{
			kind: r.kinds.of(group), name: ref.Name, uid: ref.UID, blocks: ptr.Deref(ref.BlockOwnerDeletion, false),
		})
	}
	return o, nil
}
