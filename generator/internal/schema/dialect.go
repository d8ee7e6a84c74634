package schema

import (
	"apigen.dev/generator/internal/model"
)

// Dialect describes, as data for the one resolver, how one description of an API reads Go types.
type Dialect struct {
	// Presence says when a field is required.
	Presence Presence
	// forms are the forms of well-known types where they differ from the usual ones. An empty form means that the
	// dialect doesn't treat the type as well-known.
	forms map[WellKnown]Form
	// encodings are the rules by which a type may get another form than its Go type has. The first that applies counts.
	encodings []encoding
	// namedBytes: lists of a named type over byte are lists of numbers.
	namedBytes bool
	// format is the column of the table of predeclared types.
	format func(Basic) string
}

// encoding returns the JSON form of a type if it differs from the Go form.
type encoding func(*model.Type) (Form, bool)

// unknown is the form of well-known types that a dialect doesn't treat as such.
var unknown = Form{}

// The dialects.
var (
	// OpenAPI is the dialect of kube-apiserver's documents.
	OpenAPI = &Dialect{
		forms:     map[WellKnown]Form{Patch: object},
		encodings: []encoding{bySchemaMethods, byTypeMarker, opaque, byText},
		format:    func(b Basic) string { return b.Format },
	}
	// CRD is the dialect of controller-gen's CustomResourceDefinitions.
	CRD = &Dialect{
		Presence: Presence{ControllerGen: true},
		forms: map[WellKnown]Form{
			ObjectMeta: object, Fields: object, Unstructured: object, Quantity: either, JSONNumber: unknown,
		},
		encodings:  []encoding{markedJSON, byText},
		namedBytes: true,
		format:     func(b Basic) string { return b.ControllerGen },
	}
	// CEL is the dialect of the schemas by which expressions are type-checked.
	CEL = &Dialect{
		forms: map[WellKnown]Form{
			ObjectMeta: object, ListMeta: object, Unstructured: object, Quantity: either,
		},
		encodings: []encoding{bySchemaMethods, byTypeMarker, opaque, byText},
		format:    func(Basic) string { return "" },
	}
	// Wire is the dialect in which apigen compat compares two states of an API.
	Wire = &Dialect{
		Presence:  Presence{Default: MayOmit, ZeroStructs: true},
		forms:     map[WellKnown]Form{FieldsV1: anything, RawExtension: anything, AnyJSONBeta: unknown},
		encodings: []encoding{bySchemaMethods, byMarshalJSON, byText},
		format: func(b Basic) string {
			if b.JSON == Number {
				return b.Format
			}
			return ""
		},
	}
	// Reference is the dialect of pages for people.
	Reference = &Dialect{
		Presence:  Presence{Default: MayOmitUnmarked},
		encodings: []encoding{bySchemaMethods, byText},
		format:    func(Basic) string { return "" },
	}
)

// form returns the form of a type, and whether it follows from the Go form.
func (d *Dialect) form(t *model.Type) (form Form, structural bool) {
	if name := KnownAs(t); name != "" {
		form, special := d.forms[name]
		if !special {
			form = forms[name]
		}
		if form != unknown {
			return form, false
		}
	}
	for _, encoding := range d.encodings {
		if form, ok := encoding(t); ok {
			return form, false
		}
	}
	if m, by := t.Method("MarshalJSON"); m != nil && by != nil {
		form, _ = d.form(by.Type.Pointee())
		return form, false
	}
	return d.structure(t), true
}

func (d *Dialect) structure(t *model.Type) Form {
	switch t.Form {
	case model.Basic:
		row := Basics[t.Basic]
		return Form{JSON: row.JSON, Format: d.format(row), Bits: row.Bits}
	case model.Pointer:
		return Form{JSON: Pointer}
	case model.Slice, model.Array:
		if t.IsBytes() && (t.Elem.Package == nil || !d.namedBytes) {
			return Form{JSON: String, Format: "byte"}
		}
		return Form{JSON: List}
	case model.Map:
		return Form{JSON: Map}
	case model.Struct:
		return Form{JSON: Object}
	}
	return anything
}

func bySchemaMethods(t *model.Type) (Form, bool) {
	return Form{JSON: JSON(t.SchemaType), Format: t.SchemaFormat}, t.SchemaType != ""
}

// byTypeMarker returns the form that +kubebuilder:validation:Type names at the type, unless the fields already have it.
func byTypeMarker(t *model.Type) (Form, bool) {
	same := t.Form == model.Struct && t.Schema.Type == string(Object) && !t.OpaqueJSON()
	return Form{JSON: JSON(t.Schema.Type)}, t.Package != nil && t.Schema.Type != "" && !same
}

// opaque returns the form of any value for a type whose MarshalJSON may write anything.
func opaque(t *model.Type) (Form, bool) { return anything, t.Package != nil && t.OpaqueJSON() }

func byMarshalJSON(t *model.Type) (Form, bool) {
	if t.Package == nil || t.Methods["MarshalJSON"] == nil {
		return Form{}, false
	}
	return Form{JSON: JSON(t.Package.Path + "." + t.Name)}, true
}

// markedJSON returns the form that a marker names at a type with a MarshalJSON.
func markedJSON(t *model.Type) (Form, bool) {
	return Form{JSON: JSON(t.Schema.Type)}, t.Package != nil && t.Schema.Type != "" && has(t, "MarshalJSON")
}

// byText returns the form of a string where the type has a MarshalText and no MarshalJSON, its own or promoted ones.
func byText(t *model.Type) (Form, bool) {
	return Form{JSON: String}, t.Package != nil && has(t, "MarshalText") && !has(t, "MarshalJSON")
}

func has(t *model.Type, method string) bool {
	m, _ := t.Method(method)
	return m != nil
}

// Basic is a row of the table of predeclared types.
type Basic struct {
	JSON JSON
	// Bits is the width that clients need for integers.
	Bits int
	// Format is that of Kubernetes' OpenAPI documents, ControllerGen the one that controller-gen writes.
	Format, ControllerGen string
}

// Basics is the table of predeclared types.
var Basics = map[string]Basic{
	"bool":   {JSON: Boolean},
	"string": {JSON: String},

	"int":   {JSON: Integer, Bits: 64, Format: "int32"},
	"int8":  {JSON: Integer, Bits: 32, Format: "int32"},
	"int16": {JSON: Integer, Bits: 32, Format: "int32"},
	"int32": {JSON: Integer, Bits: 32, Format: "int32", ControllerGen: "int32"},
	"rune":  {JSON: Integer, Bits: 32, Format: "int32", ControllerGen: "int32"},
	"int64": {JSON: Integer, Bits: 64, Format: "int64", ControllerGen: "int64"},

	"uint":    {JSON: Integer, Bits: 64, Format: "int64"},
	"uint8":   {JSON: Integer, Bits: 32, Format: "int32"},
	"byte":    {JSON: Integer, Bits: 32, Format: "int32"},
	"uint16":  {JSON: Integer, Bits: 32, Format: "int32"},
	"uint32":  {JSON: Integer, Bits: 64, Format: "int64", ControllerGen: "int64"}, // int32 can't hold its values
	"uint64":  {JSON: Integer, Bits: 64, Format: "int64", ControllerGen: "int64"},
	"uintptr": {JSON: Integer, Bits: 64, Format: "int64"},

	"float32": {JSON: Number, Format: "float"},
	"float64": {JSON: Number, Format: "double"},
}
