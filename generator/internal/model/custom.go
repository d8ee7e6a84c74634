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

// OmitsZeroStructs reports whether the type is a Custom kind, and encoding/json would write structs that are zero
// although their fields have omitempty.
func (t *Type) OmitsZeroStructs() bool {
	if !t.Custom() {
		return false
	}
	inner := func(t *Type) (types []*Type) {
		if t.Elem != nil {
			types = append(types, t.Elem)
		}
		for _, f := range t.Fields {
			if !f.Ignored && !(f.Embedded && f.JSON == "metadata") {
				types = append(types, f.Type)
			}
		}
		return types
	}
	writesZero := func(t *Type) bool {
		return slices.ContainsFunc(t.Fields, func(f *Field) bool {
			return f.WritesZeroStruct() && !(f.Embedded && f.JSON == "metadata")
		})
	}
	return NewReach(writesZero, inner).From(t)
}

// WritesZeroStruct reports whether encoding/json writes the field if it is zero, although it has omitempty: it is a
// struct and no pointer.
func (f *Field) WritesZeroStruct() bool {
	_, options, _ := strings.Cut(reflect.StructTag(f.Tag).Get("json"), ",")
	return f.OmitEmpty && f.Type.Form == Struct && !slices.Contains(strings.Split(options, ","), "omitzero")
}
