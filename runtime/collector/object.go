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
)

// object is what the graph knows of one. It is immutable but for what is atomic.
type object struct {
	resource        *resource
	namespace, name string
	uid             types.UID
	version         int64
	owners          []reference
	// deleting tells that it is to go; foreground and orphan that it has the finalizer.
	deleting, foreground, orphan bool
	// asked is when its dependents were last asked to go, in nanoseconds since the collector began; 0 is never.
	asked atomic.Int64
}

// reference is one to an owner. Its resource is nil where the kind isn't served here.
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

// notable tells whether the graph must know the object.
func (o *object) notable() bool { return len(o.owners) > 0 || o.waits() }

// waits tells whether its deletion waits for its dependents.
func (o *object) waits() bool { return o.deleting && (o.foreground || o.orphan) }

// leads tells whether its deletion waits for its dependents to be deleted.
func (o *object) leads() bool { return o.deleting && o.foreground && !o.orphan }

// sameAs tells whether nothing differs that counts but the version.
func (o *object) sameAs(other *object) bool {
	return o.deleting == other.deleting && o.foreground == other.foreground && o.orphan == other.orphan && slices.Equal(o.owners, other.owners)
}

// owned returns the reference by which o is a dependent of owner: of its uid, and one that leads there. Nil is none.
func (o *object) owned(owner *object) *reference {
	for i := range o.owners {
		r := &o.owners[i]
		if r.uid == owner.uid && r.resource == owner.resource && r.name == owner.name &&
			(!owner.resource.namespaced || owner.namespace == o.namespace) {
			return r
		}
	}
	return nil
}

// metadata is what counts of an object's.
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

// readMetadata finds an object's metadata, which usually stands first.
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

// mayMatter tells, without reading it, whether an object may be notable.
func mayMatter(r api.Rendition) bool {
	return bytes.Contains(r.Payload, []byte(`"ownerReferences":`)) || bytes.Contains(r.Payload, []byte(`"deletionTimestamp":`))
}

// object is what metadata tells of one of the resource.
func (r *resource) object(m *metadata) (*object, error) {
	version, err := strconv.ParseInt(m.ResourceVersion, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the resourceVersion of %s %s/%s: %w", r.gr, m.Namespace, m.Name, err)
	}
	o := &object{
		resource: r, namespace: m.Namespace, name: m.Name, uid: m.UID, version: version, deleting: m.DeletionTimestamp != nil,
		foreground: slices.Contains(m.Finalizers, metav1.FinalizerDeleteDependents),
		orphan:     slices.Contains(m.Finalizers, metav1.FinalizerOrphanDependents),
	}
	for i := range m.OwnerReferences {
		ref := &m.OwnerReferences[i]
		// The version doesn't count: it may be one that is served no more, and the uid tells more than it.
		group := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
		o.owners = append(o.owners, reference{
			resource: r.kinds[group], name: ref.Name, uid: ref.UID, blocks: ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion,
		})
	}
	return o, nil
}
