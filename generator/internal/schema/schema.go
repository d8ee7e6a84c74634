// Package schema resolves what the values of Go types are on the wire: one tree of JSON forms, fields and constraints,
// from which OpenAPI documents, CustomResourceDefinitions, CEL's schemas, the comparison of two states and the
// reference are printed. Dialects hold, as data, the differences in how these read a type. The package knows model
// and nothing else of the generator.
package schema

import (
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

// JSON is the form of a value in JSON. A type may also have a form of its own, which is its Go name.
type JSON string

// The forms. A Map is an object without named fields; a Pointer is a named pointer, whose form is its element's.
const (
	Any         JSON = "any"
	Boolean     JSON = "boolean"
	Integer     JSON = "integer"
	Number      JSON = "number"
	String      JSON = "string"
	List        JSON = "array"
	Map         JSON = "map"
	Object      JSON = "object"
	IntOrString JSON = "int-or-string"
	Decimal     JSON = "quantity"
	Pointer     JSON = "pointer"
)

// Form is a JSON form with its format, and the width of integers.
type Form struct {
	JSON   JSON
	Format string
	Bits   int
}

// Type is the schema of the values of a Go type. Types that contain themselves point back.
type Type struct {
	Form
	// Go is the type; pointers without a name are followed.
	Go *model.Type
	// Known names a library type whose JSON differs from its fields; it is empty for all other types.
	Known WellKnown
	// Structural reports that the form follows from the Go form, and not from methods or a marker: an Object has
	// Fields, a List and a Map an Elem.
	Structural bool
	// Elem is the type of the elements, or the type that a Pointer points to. It is nil for other forms.
	Elem *Type
	// Fields are the fields of a Go struct in the order of the source, without those that JSON ignores.
	Fields []*Field
	// Layers hold the markers that apply to all values: the type's, and those of the types that it is declared over.
	Layers Layers

	properties []*Property
}

// Named reports whether the type has a name that a schema can have, too.
func (t *Type) Named() bool { return t.Go.Package != nil && t.Go.Name != "" }

// Field is a field of a Go struct.
type Field struct {
	Go   *model.Field
	Type *Type
	// Required reports whether the dialect requires the field.
	Required bool
	// Default is the field's, or its type's; nil if there is none.
	Default *model.Default
}

// inlined reports whether the fields of a struct appear in the object of the struct that has this field.
func (f *Field) inlined() bool { return f.Go.Inline && f.pointee().Go.Form == model.Struct }

// pointee returns the field's type; it follows named pointers.
func (f *Field) pointee() *Type {
	t := f.Type
	for range 8 { // type P *P has no end
		if t.JSON != Pointer || t.Elem == nil {
			break
		}
		t = t.Elem
	}
	return t
}

// Resolver resolves types for a dialect. It is not safe for concurrent use.
type Resolver struct {
	// Replace, if it is set, returns the type to resolve in place of another, such as one with documentation.
	Replace func(*model.Type) *model.Type

	dialect *Dialect
	types   map[*model.Type]*Type
}

// New returns a resolver for a dialect.
func New(d *Dialect) *Resolver { return &Resolver{dialect: d, types: map[*model.Type]*Type{}} }

// Type resolves a type. Equal types have the same schema.
func (r *Resolver) Type(t *model.Type) *Type {
	for {
		if r.Replace != nil {
			t = r.Replace(t)
		}
		if t.Form != model.Pointer || t.Package != nil || t.Name != "" || t.Elem == nil {
			break
		}
		t = t.Elem
	}
	if found := r.types[t]; found != nil {
		return found
	}
	out := &Type{Go: t, Known: KnownAs(t), Layers: layersOf(t)}
	r.types[t] = out
	out.Form, out.Structural = r.dialect.form(t)
	if t.Elem != nil {
		out.Elem = r.Type(t.Elem)
	}
	for _, f := range t.Fields {
		if !f.Ignored {
			out.Fields = append(out.Fields, r.Field(f))
		}
	}
	return out
}

// Field resolves a field.
func (r *Resolver) Field(f *model.Field) *Field {
	return &Field{Go: f, Type: r.Type(f.Type), Required: r.dialect.Presence.requires(f), Default: DefaultOf(f)}
}

// DefaultOf returns the default of a field or of its type; nil if there is none.
func DefaultOf(f *model.Field) *model.Default {
	if f.Default != nil {
		return f.Default
	}
	return f.Type.Pointee().Default
}

// ConstantsByValue returns the values of an enumeration in their own order.
func ConstantsByValue(t *model.Type) []*model.Const {
	out := Constants(t)
	slices.SortFunc(out, func(a, b *model.Const) int { return strings.Compare(a.Value, b.Value) })
	return out
}

// Constants returns the values of an enumeration in the order of the source, one constant for each value.
func Constants(t *model.Type) []*model.Const {
	var out []*model.Const
	if t.Package == nil {
		return nil
	}
	for _, c := range t.Package.Consts {
		same := func(other *model.Const) bool { return other.Value == c.Value }
		if c.Type == t && !c.Excluded && !slices.ContainsFunc(out, same) {
			out = append(out, c)
		}
	}
	return out
}
