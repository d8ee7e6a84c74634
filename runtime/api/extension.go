package api

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

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
	// Kind is what is sent and answered. Without a version it is of the version that the URL names; without a Kind,
	// too, it is the resource's own.
	Kind schema.GroupVersionKind
	// Methods are the HTTP methods, sorted.
	Methods []string
	// Subpath: what follows the name in a path is the extension's.
	Subpath bool
	// Columns of the Table; nil where there is none.
	Columns []Column
	// TakesProtobuf and GivesProtobuf tell that what is sent, and what is answered, can be Kubernetes protobuf.
	TakesProtobuf, GivesProtobuf bool
}

// Lasts tells that requests live as long as their client wants.
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

// Has tells whether the resource is served with a verb.
func (i *Info) Has(verb string) bool {
	return i.Verbs == nil || slices.Contains(i.Verbs, verb)
}
