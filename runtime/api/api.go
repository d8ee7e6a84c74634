// Package api is the vocabulary of the runtime: names, scopes, versions, columns, renditions and the handshake between
// generated code and runtime. It holds nouns and no behaviour beyond reading them; everything in the runtime may import
// it, and it imports nothing of ours.
package api

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Object is the one constraint on a kind's Go type. It is satisfied by pointers to structs that embed metav1.TypeMeta
// and metav1.ObjectMeta and have a DeepCopyObject.
type Object interface {
	metav1.Object
	runtime.Object
}

// Scope says whether the objects of a kind live in namespaces.
type Scope string

const (
	// Namespaced kinds are addressed by namespace and name.
	Namespaced Scope = "Namespaced"
	// Cluster kinds are addressed by name alone.
	Cluster Scope = "Cluster"
)

// Names are the names under which clients address a resource, as in discovery.
type Names struct {
	Kind       string   // Widget
	ListKind   string   // WidgetList
	Plural     string   // widgets: the path segment
	Singular   string   // widget
	ShortNames []string // wg
	Categories []string // all
}

// Column describes one column of a resource's Table; the cells are made by a function of a version's type.
type Column struct {
	Name        string
	Type        string // integer, number, string, boolean, date
	Format      string // OpenAPI format, or "name" for the column that holds the name
	Description string
	Priority    int32 // 0 is shown always, anything higher with -o wide
}

// Info is what discovery, routing and the key layout know of a resource. It is immutable once a server was made of it.
type Info struct {
	Group    string
	Names    Names
	Scope    Scope
	Versions []VersionInfo // in order of priority, the preferred one first
	// Storage is the version in which objects are written to the backend; empty where nothing is stored.
	Storage string
	// StoragePrefix is where its keys are, below the prefix of all resources.
	StoragePrefix string
	// SameAs is the resource of another group whose objects these are, which has the storage; nil where the objects are
	// the resource's own.
	SameAs *Info
	// Subresources are those that are a part of the object: status.
	Subresources []Subresource
	// Extensions are all other subresources.
	Extensions []Extension
	// Verbs are those that clients may use, sorted; nil where all are served.
	Verbs []string
	// SelectableFields are the field paths beyond metadata.name and metadata.namespace that are indexed, in the order
	// in which a Record holds their values. A version has those that selectors may name there.
	SelectableFields []string
}

// Subresource is a subresource that is a part of its object, such as status.
type Subresource struct {
	// Name is what stands behind the slash in a path.
	Name string
	// Versions are the versions of the resource that have it; nil means all.
	Versions []string
	// Verbs are get, patch and update, or some of them, sorted.
	Verbs []string
}

// In reports whether a version has the subresource.
func (s Subresource) In(version string) bool {
	return s.Versions == nil || slices.Contains(s.Versions, version)
}

// Subresource returns the subresource of that name, or nil.
func (i *Info) Subresource(name string) *Subresource {
	for s := range i.Subresources {
		if i.Subresources[s].Name == name {
			return &i.Subresources[s]
		}
	}
	return nil
}

// VersionInfo is one served version of a resource.
type VersionInfo struct {
	Name string // v1
	// Columns of the Table in this version; empty means name and age.
	Columns []Column
	// Unserved reports whether objects may be stored in the version, and no client may ask for it.
	Unserved bool
	// Untyped reports whether the version has no Go type. As kube-apiserver treats custom resources: the version has no
	// strategic merge patch, what clients send must name its kind, and the items of lists have apiVersion and kind.
	Untyped bool
	// Deprecated, where not empty, is the warning that each request to this version receives.
	Deprecated string
	// Removed is the release that no longer has the deprecated version; empty if nobody knows it yet.
	Removed string
	// SelectableFields are the field paths beyond metadata.name and metadata.namespace that field selectors may name in
	// this version. They follow from the definition's; what a definition sets here is not heeded.
	SelectableFields []string
	// Protobuf reports whether objects of this version can be read and written whole as Kubernetes protobuf. It follows
	// from the version's conversion; what a definition sets here is not heeded.
	Protobuf bool
}

// GroupResource is the name by which errors call the resource.
func (i *Info) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: i.Group, Resource: i.Names.Plural}
}

// Stored returns the resource that has the storage: SameAs, or the resource itself.
func (i *Info) Stored() *Info {
	if i.SameAs != nil {
		return i.SameAs
	}
	return i
}

// Key returns the key of a version, by which a Form, a Body and a codec name it: v1, or other.example.com/v1 for a
// resource whose objects are those of another group's resource.
func (i *Info) Key(version string) string {
	if i.SameAs != nil {
		return ForeignKey(i.Group, version)
	}
	return version
}

// ForeignKey returns the key of a version in another group than that of the stored resource. It always has a slash,
// which no name of a version has.
func ForeignKey(group, version string) string { return group + "/" + version }

// Version returns the served version of that name, or nil.
func (i *Info) Version(name string) *VersionInfo {
	for v := range i.Versions {
		if i.Versions[v].Name == name {
			return &i.Versions[v]
		}
	}
	return nil
}

// GeneratedCodeVersion1 is named by generated wiring, so that wiring and runtime that don't fit fail to compile. An
// error here means: run `apigen build ./...` with the apigen of the runtime's version, which go.mod decides.
const GeneratedCodeVersion1 = true

// SelectableField is a field by which lists and watches may select.
type SelectableField[T Object] struct {
	Path string // spec.color
	// Versions are the served versions in which selectors may name it; nil means all.
	Versions []string
	Value    func(T) string
	// Of is the path of the stored resource's selectable field that has the same value; Value is nil then. Only a
	// resource that is the same as one of another group has such fields.
	Of string
}

// In reports whether selectors may name the field in a version.
func (f SelectableField[T]) In(version string) bool {
	return f.Versions == nil || slices.Contains(f.Versions, version)
}

// TextOf returns the string that a value writes itself as into JSON, such as a duration; empty where it writes null, or
// anything but a string.
func TextOf(value json.Marshaler) string {
	encoded, err := value.MarshalJSON()
	var text string
	if err != nil || json.Unmarshal(encoded, &text) != nil {
		return ""
	}
	return text
}

// ExtensionForm says how an Extension is served.
type ExtensionForm uint8

const (
	// KindForm is a kind of its own, which shows a part of the object or is posted to it.
	KindForm ExtensionForm = iota
	// StreamForm is output that is sent as it comes.
	StreamForm
	// ConnectionForm is whatever the author's handler speaks: an upgraded connection, a proxy.
	ConnectionForm
)

// Extension is a subresource that is no part of its object: scale, binding, log, exec, proxy.
type Extension struct {
	Name string
	Form ExtensionForm
	// Versions are the versions of the resource that have it; nil means all.
	Versions []string
	// Kind is what is sent and answered, or the options of a connection. Without a version it is of the version that
	// the URL names; without a Kind, too, it is the resource's own.
	Kind schema.GroupVersionKind
	// Methods are the HTTP methods, sorted.
	Methods []string
	// Subpath: what follows the name in a path is the extension's.
	Subpath bool
	// Address: a request may name the object with a scheme and a port, https:name:port.
	Address bool
	// Columns of the Table; nil where there is none.
	Columns []Column
	// TakesProtobuf and GivesProtobuf tell that what is sent, and what is answered, can be Kubernetes protobuf.
	TakesProtobuf, GivesProtobuf bool
}

// In reports whether a version has the extension.
func (e *Extension) In(version string) bool {
	return e.Versions == nil || slices.Contains(e.Versions, version)
}

// Lasts reports whether requests live as long as their client wants.
func (e *Extension) Lasts() bool { return e.Form != KindForm }

// Extension returns the extension of that name, or nil.
func (i *Info) Extension(name string) *Extension {
	for e := range i.Extensions {
		if i.Extensions[e].Name == name {
			return &i.Extensions[e]
		}
	}
	return nil
}

// Has reports whether the resource is served with a verb.
func (i *Info) Has(verb string) bool {
	return i.Verbs == nil || slices.Contains(i.Verbs, verb)
}
