package collector

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	"apigen.dev/runtime/api"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// object is an object in the graph. It is immutable except for the atomic field.
type object struct {
	resource        *resource
	namespace, name string
	uid             types.UID
	version         int64
	owners          []reference
	// deleting tells whether it has a deletionTimestamp; foreground and orphan tell whether it has the finalizer.
	deleting, foreground, orphan bool
	// asked is when its dependents were last queued, in nanoseconds since the collector started; 0 means never.
	asked atomic.Int64
}

// reference is a reference to an owner. Its resource is nil if the server doesn't serve the kind.
type reference struct {
	resource *resource
	name     string
	uid      types.UID
	blocks   bool
}

func (o *object) String() string {
	if o.namespace == "" {
		return fmt.Sprintf("%s %s", o.resource.gr, o.name)
	}
	return fmt.Sprintf("%s %s/%s", o.resource.gr, o.namespace, o.name)
}

// isRelevant tells whether the graph must have the object.
func (o *object) isRelevant() bool { return len(o.owners) > 0 || o.awaitsDependents() }

// awaitsDependents tells whether the deletion of the object waits for its dependents.
func (o *object) awaitsDependents() bool { return o.deleting && (o.foreground || o.orphan) }

// isForeground tells whether the object is being deleted in the foreground.
func (o *object) isForeground() bool { return o.deleting && o.foreground && !o.orphan }

// sameAs tells whether two states of an object are the same for the collector.
func (o *object) sameAs(other *object) bool {
	return o.deleting == other.deleting && o.foreground == other.foreground && o.orphan == other.orphan &&
		slices.Equal(o.owners, other.owners)
}

// referenceTo returns the reference by which o depends on owner, or nil. It must have the uid, the kind and the name of
// owner.
func (o *object) referenceTo(owner *object) *reference {
	for i := range o.owners {
		r := &o.owners[i]
		if r.uid == owner.uid && r.resource == owner.resource && r.name == owner.name &&
			(!owner.resource.namespaced || owner.namespace == o.namespace) {
			return r
		}
	}
	return nil
}

// metadata is the part of an object's metadata that the collector uses.
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
func readMetadata(r api.Rendition) (m metadata, err error) {
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

// mayBeRelevant tells whether an object may be relevant. It searches the bytes and doesn't decode them.
func mayBeRelevant(r api.Rendition) bool {
	return bytes.Contains(r.Payload, []byte(`"ownerReferences":`)) ||
		bytes.Contains(r.Payload, []byte(`"deletionTimestamp":`))
}

func (r *resource) object(m *metadata) (*object, error) {
	version, err := strconv.ParseInt(m.ResourceVersion, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the resourceVersion of %s %s/%s: %w", r.gr, m.Namespace, m.Name, err)
	}
	o := &object{
		resource: r, namespace: m.Namespace, name: m.Name, uid: m.UID, version: version,
		deleting:   m.DeletionTimestamp != nil,
		foreground: slices.Contains(m.Finalizers, metav1.FinalizerDeleteDependents),
		orphan:     slices.Contains(m.Finalizers, metav1.FinalizerOrphanDependents),
	}
	for i := range m.OwnerReferences {
		ref := &m.OwnerReferences[i]
		// The version doesn't matter: the server may not serve it any more, and the uid identifies the owner.
		group := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
		o.owners = append(o.owners, reference{
			resource: r.kinds[group], name: ref.Name, uid: ref.UID, blocks: ptr.Deref(ref.BlockOwnerDeletion, false),
		})
	}
	return o, nil
}
