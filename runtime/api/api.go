// Package api is the vocabulary that the runtime shares with generated code and with authors: names, scopes, versions,
// columns and their cells, documents, what a provider's reads are asked for, and the handshake between generated code
// and runtime. It holds nouns and no behaviour beyond reading them; everything in the runtime may import it. It may
// know packages cell and jsondoc.
package api

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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

// TextOf returns the string that a value writes itself as into JSON, such as a duration; empty if it writes null, or
// anything but a string.
func TextOf(value json.Marshaler) string {
	encoded, err := value.MarshalJSON()
	var text string
	if err != nil || json.Unmarshal(encoded, &text) != nil {
		return ""
	}
	return text
}
