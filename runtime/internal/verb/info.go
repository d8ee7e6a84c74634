package verb

import (
	"slices"

	"apigen.dev/runtime/api"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Info is what discovery, routing and the key layout know of a resource. It is immutable once a server was made of it.
type Info struct {
	Group    string
	Names    api.Names
	Scope    api.Scope
	Versions []api.VersionInfo // in order of priority, the preferred one first
	// Storage is the version in which objects are written to the backend; empty if nothing is stored.
	Storage string
	// StoragePrefix is where its keys are, below the prefix of all resources.
	StoragePrefix string
	// SameAs is the resource of another group whose objects these are, which has the storage; nil if the objects are
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
func (i *Info) Version(name string) *api.VersionInfo {
	for v := range i.Versions {
		if i.Versions[v].Name == name {
			return &i.Versions[v]
		}
	}
	return nil
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

// Extension is a subresource that is not part of its object: scale, binding, log, exec, proxy.
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
	// Columns of the Table; nil if there is none.
	Columns []api.Column
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
