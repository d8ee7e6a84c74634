package ownership

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"

	"k8s.io/apimachinery/pkg/runtime/schema"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
)

// property is a schema of an OpenAPI v3 document: what of it says how values are merged.
type property struct {
	Ref        string               `json:"$ref"`
	AllOf      []*property          `json:"allOf"`
	Type       string               `json:"type"`
	Format     string               `json:"format"`
	Nullable   bool                 `json:"nullable"`
	Default    any                  `json:"default"`
	Properties map[string]*property `json:"properties"`
	Additional *additional          `json:"additionalProperties"`
	Items      *property            `json:"items"`

	ListType      *string  `json:"x-kubernetes-list-type"`
	ListMapKeys   []string `json:"x-kubernetes-list-map-keys"`
	MapType       *string  `json:"x-kubernetes-map-type"`
	PatchStrategy *string  `json:"x-kubernetes-patch-strategy"`
	PatchMergeKey *string  `json:"x-kubernetes-patch-merge-key"`
	Preserve      bool     `json:"x-kubernetes-preserve-unknown-fields"`

	Kinds []struct{ Group, Version, Kind string } `json:"x-kubernetes-group-version-kind"`
}

// additional is the schema of members that have no property, or whether there may be any.
type additional struct {
	schema  *property
	allowed bool
}

// UnmarshalJSON reads a schema, or true or false.
func (a *additional) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("{")) {
		return json.Unmarshal(data, &a.schema)
	}
	return json.Unmarshal(data, &a.allowed)
}

// types are the schemas of a document, for structured-merge-diff.
type types struct {
	schema smd.Schema
	// names are those of the schemas of kinds.
	names map[schema.GroupVersionKind]string
}

// parse reads the schemas of an OpenAPI v3 document.
func parse(document []byte) (*types, error) {
	var parsed struct {
		Components struct {
			Schemas map[string]*property `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(document, &parsed); err != nil {
		return nil, err
	}
	out := &types{names: map[schema.GroupVersionKind]string{}}
	var errs []error
	for name, p := range parsed.Components.Schemas {
		if p == nil || p.Ref != "" {
			continue
		}
		for _, k := range p.Kinds {
			out.names[schema.GroupVersionKind(k)] = name
		}
		c := place{at: name, errs: &errs, preserve: p.Preserve}
		out.schema.Types = append(out.schema.Types, smd.TypeDef{Name: name, Atom: c.definition(name, p)})
	}
	out.schema.Types = append(out.schema.Types, smd.TypeDef{Name: atomicName, Atom: atomicAtom()},
		smd.TypeDef{Name: deducedName, Atom: deducedAtom()})
	return out, errors.Join(errs...)
}

// The names of types for values without a schema. In an atomic value nothing is told apart; a deduced one is told apart
// by its members, and its lists are atomic.
const (
	atomicName  = "__untyped_atomic_"
	deducedName = "__untyped_deduced_"
)

var untyped = smd.Scalar("untyped")

func named(name string) smd.TypeRef { return smd.TypeRef{NamedType: &name} }

func atomicAtom() smd.Atom {
	return smd.Atom{
		Scalar: &untyped,
		List:   &smd.List{ElementType: named(atomicName), ElementRelationship: smd.Atomic},
		Map:    &smd.Map{ElementType: named(atomicName), ElementRelationship: smd.Atomic},
	}
}

func deducedAtom() smd.Atom {
	return smd.Atom{
		Scalar: &untyped,
		List:   &smd.List{ElementType: named(atomicName), ElementRelationship: smd.Atomic},
		Map:    &smd.Map{ElementType: named(deducedName), ElementRelationship: smd.Separable},
	}
}

// place is where a schema stands in a document. Its methods convert schemas as Kubernetes' schemaconv does, and collect
// errors.
type place struct {
	at   string
	errs *[]error
	// preserve: an enclosing schema has x-kubernetes-preserve-unknown-fields, so that structs may have other fields.
	preserve bool
}

func (c place) errorf(format string, args ...any) {
	*c.errs = append(*c.errs, fmt.Errorf(c.at+": "+format, args...))
}

// definition converts a schema that has a name. A quantity is a string or a number, and an object of any kind is
// replaced as a whole.
func (c place) definition(name string, p *property) smd.Atom {
	switch name {
	case "io.k8s.apimachinery.pkg.api.resource.Quantity":
		return smd.Atom{Scalar: &untyped}
	case "io.k8s.apimachinery.pkg.runtime.RawExtension":
		return atomicAtom()
	}
	return c.atom(p)
}

func (c place) atom(p *property) smd.Atom {
	switch p.Type {
	case "":
		return smd.Atom{Scalar: &untyped, List: c.list(p), Map: c.object(p)}
	case "object":
		return smd.Atom{Map: c.object(p)}
	case "array":
		return smd.Atom{List: c.list(p)}
	case "integer", "number":
		return smd.Atom{Scalar: new(smd.Numeric)}
	case "boolean":
		return smd.Atom{Scalar: new(smd.Boolean)}
	case "string":
		if p.Format == "" || p.Format == "byte" {
			return smd.Atom{Scalar: new(smd.String)}
		}
		return smd.Atom{Scalar: &untyped}
	}
	c.errorf("unrecognized type: '%v'", p.Type)
	return smd.Atom{Scalar: &untyped}
}

// ref converts a schema that stands in another one: a reference, alone or as the one element of allOf, or a schema of
// its own.
func (c place) ref(p *property) smd.TypeRef {
	ref := p.Ref
	if ref == "" && len(p.AllOf) == 1 {
		ref = p.AllOf[0].Ref
	}
	if name := path.Base(ref); ref != "" {
		out := named(name)
		out.Nullable = p.Nullable
		if relationship := c.mapRelationship(p); relationship != "" {
			out.ElementRelationship = &relationship
		}
		return out
	}
	c.at, c.preserve = "inlined in "+c.at, c.preserve || p.Preserve
	return smd.TypeRef{Inlined: c.atom(p), Nullable: p.Nullable}
}

func (c place) object(p *property) *smd.Map {
	out := &smd.Map{ElementRelationship: c.mapRelationship(p), ElementType: c.members(p)}
	for name, member := range p.Properties {
		out.Fields = append(out.Fields, smd.StructField{Name: name, Type: c.ref(member), Default: member.Default})
	}
	return out
}

// members is the type of members without a property. There may be any in an object that says nothing of its members.
func (c place) members(p *property) smd.TypeRef {
	switch a := p.Additional; {
	case a == nil && (c.preserve || len(p.Properties) == 0), a != nil && a.schema == nil && a.allowed:
		return named(deducedName)
	case a != nil && a.schema != nil:
		return c.ref(a.schema)
	}
	return smd.TypeRef{}
}

func (c place) mapRelationship(p *property) smd.ElementRelationship {
	switch {
	case p.MapType == nil:
		return ""
	case *p.MapType == "atomic":
		return smd.Atomic
	case *p.MapType == "granular":
		return smd.Separable
	}
	c.errorf("unknown map type %v", *p.MapType)
	return ""
}

func (c place) list(p *property) *smd.List {
	out := &smd.List{ElementType: named(atomicName)}
	out.ElementRelationship, out.Keys = c.listRelationship(p)
	switch {
	case p.Items != nil:
		out.ElementType = c.ref(p.Items)
	case p.Type != "":
		c.errorf("`items` must be specified on arrays")
	}
	return out
}

// listRelationship says how the items of a list are told apart: by keys, by their values, or not at all.
func (c place) listRelationship(p *property) (smd.ElementRelationship, []string) {
	if p.ListType != nil {
		switch *p.ListType {
		case "atomic":
			return smd.Atomic, nil
		case "set":
			return smd.Associative, nil
		case "map":
			if p.ListMapKeys == nil {
				c.errorf("missing map keys")
			}
			return smd.Associative, p.ListMapKeys
		}
		c.errorf("unknown list type %v", *p.ListType)
		return smd.Atomic, nil
	}
	if p.PatchStrategy == nil {
		return smd.Atomic, nil
	}
	switch *p.PatchStrategy {
	case "merge", "merge,retainKeys":
		if p.PatchMergeKey != nil {
			return smd.Associative, []string{*p.PatchMergeKey}
		}
		return smd.Associative, nil
	case "retainKeys":
		return smd.Atomic, nil
	}
	c.errorf("unknown patch strategy %v", *p.PatchStrategy)
	return smd.Atomic, nil
}
