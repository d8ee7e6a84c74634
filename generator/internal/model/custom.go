package model

import (
	"reflect"
	"slices"
	"strings"
)

// Custom reports whether the type is a kind that a server treats as it would treat custom resources of the kind's
// CustomResourceDefinition: one that is marked for controller-gen. Others are treated as Kubernetes' own kinds.
func (t *Type) Custom() bool { return t.Kind != nil && t.Kind.Kubebuilder }

// HasCustom reports whether kinds of the package are Custom.
func (p *Package) HasCustom() bool { return slices.ContainsFunc(p.Source().Types, (*Type).Custom) }

// IsMetadata reports whether the field is the metadata of an object. A type of the author's own that is embedded under
// that name, as Cluster API's ObjectMeta, is a struct as others.
func (f *Field) IsMetadata() bool {
	return f.Embedded && f.JSON == "metadata" && f.Type.Is("k8s.io/apimachinery/pkg/apis/meta/v1", "ObjectMeta")
}

// WritesZeroStruct reports whether encoding/json writes the field if it is zero, although it has omitempty: it is a
// struct and no pointer.
func (f *Field) WritesZeroStruct() bool {
	return f.OmitEmpty && f.Type.Form == Struct && !f.hasOption("omitzero")
}

// OmitsEmptyList reports whether encoding/json leaves out the field if it is a list or map without elements.
func (f *Field) OmitsEmptyList() bool {
	return (f.Type.Form == Slice || f.Type.Form == Map) && f.hasOption("omitempty")
}

func (f *Field) hasOption(name string) bool {
	_, options, _ := strings.Cut(reflect.StructTag(f.Tag).Get("json"), ",")
	return slices.Contains(strings.Split(options, ","), name)
}
