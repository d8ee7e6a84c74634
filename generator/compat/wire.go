package compat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"apigen.dev/generator/model"
)

// value is what is known of a place on the wire: the shape of its JSON, and the constraints of all layers that speak of it,
// the field's first, then those of the named types behind it.
type value struct {
	// typ is object, map, array, string, integer, number, boolean, or a name for what is none of them: int-or-string,
	// quantity, any, or that of a Go type with a JSON form of its own.
	typ, format string
	// bits of an integer.
	bits int
	// of is the struct whose fields an object has, or that of a list's or map's elements.
	of     *model.Type
	layers []*model.Schema
	// named are the named types passed on the way.
	named []*model.Type
}

// valueOf reads a type, with what is said of it where it is used.
func valueOf(t *model.Type, use ...*model.Schema) value {
	v := value{}
	for _, s := range use {
		if s != nil {
			v.layers = append(v.layers, s)
		}
	}
	for range 8 { // pointers; nobody points at more
		if t.Name != "" && t.Package != nil {
			v.named = append(v.named, t)
			v.layers = append(v.layers, &t.Schema)
		}
		if t.Form != model.Pointer || t.Elem == nil {
			break
		}
		t = t.Elem
	}
	v.shape(t)
	for _, s := range v.layers {
		switch {
		case s.Schemaless:
			v.typ, v.format, v.of = "any", "", nil
		case s.IntOrString:
			v.typ, v.format, v.of = "int-or-string", "", nil
		case s.Type != "" && s.Type != v.typ && !(s.Type == "object" && v.typ == "map"):
			v.typ, v.of = s.Type, nil
		default:
			continue
		}
		break
	}
	if f := v.text(func(s *model.Schema) string { return s.Format }); f != "" {
		v.format = f
	}
	return v
}

// wellKnown are types of others whose JSON isn't what their fields say.
var wellKnown = map[string]value{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":      {typ: "string", format: "date-time"},
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime": {typ: "string", format: "date-time"},
	"time.Time": {typ: "string", format: "date-time"},
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":                 {typ: "string"},
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                 {typ: "quantity"},
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":               {typ: "int-or-string"},
	"k8s.io/apimachinery/pkg/runtime.RawExtension":                  {typ: "any"},
	"encoding/json.RawMessage":                                      {typ: "any"},
	"encoding/json.Number":                                          {typ: "number"},
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":                 {typ: "any"},
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON": {typ: "any"},
}

func (v *value) shape(t *model.Type) {
	if t.Package != nil && t.Name != "" {
		name := t.Package.Path + "." + t.Name
		if k, ok := wellKnown[name]; ok {
			v.typ, v.format = k.typ, k.format
			return
		}
		if t.SchemaType != "" {
			v.typ, v.format = t.SchemaType, t.SchemaFormat
			return
		}
		if t.Methods["MarshalJSON"] != nil {
			v.typ = name
			return
		}
	}
	switch t.Form {
	case model.Basic:
		v.basic(t.Basic)
	case model.Struct:
		v.typ, v.of = "object", t
	case model.Map:
		v.typ, v.of = "map", t.Elem
	case model.Slice, model.Array:
		if t.Elem.Form == model.Basic && (t.Elem.Basic == "byte" || t.Elem.Basic == "uint8") {
			v.typ, v.format = "string", "byte"
			return
		}
		v.typ, v.of = "array", t.Elem
	default:
		v.typ = "any"
	}
}

func (v *value) basic(name string) {
	switch name {
	case "bool":
		v.typ = "boolean"
	case "string":
		v.typ = "string"
	case "float32", "float64":
		v.typ, v.format = "number", map[string]string{"float32": "float", "float64": "double"}[name]
	case "int64", "uint64", "uint32", "uint", "uintptr", "int":
		v.typ, v.bits = "integer", 64
	default:
		v.typ, v.bits = "integer", 32
	}
}

// text is what the nearest layer says that says anything.
func (v value) text(of func(*model.Schema) string) string {
	for _, s := range v.layers {
		if x := of(s); x != "" {
			return x
		}
	}
	return ""
}

// flag tells whether any layer says so.
func (v value) flag(of func(*model.Schema) bool) bool { return slices.ContainsFunc(v.layers, of) }

// strictest is the bound that counts: the highest of lower bounds, the lowest of upper ones. Nil where there is none.
func (v value) strictest(of func(*model.Schema) *float64, lower bool) *float64 {
	var out *float64
	for _, s := range v.layers {
		if x := of(s); x != nil && (out == nil || (*x > *out) == lower) {
			out = x
		}
	}
	return out
}

// enum are the values that are taken, as JSON, or nil where any is.
func (v value) enum() []string {
	for _, s := range v.layers {
		if len(s.Enum) > 0 {
			out := make([]string, len(s.Enum))
			for i, x := range s.Enum {
				out[i] = canonical(x)
			}
			return out
		}
	}
	for _, t := range v.named {
		if !t.Enum {
			continue
		}
		var out []string
		for _, c := range t.Package.Consts {
			if c.Type == t && !c.Excluded && !slices.Contains(out, canonical(c.Value)) {
				out = append(out, canonical(c.Value))
			}
		}
		return out
	}
	return nil
}

// patterns are all that a string must match.
func (v value) patterns() []string {
	var out []string
	for _, s := range v.layers {
		if s.Pattern != "" && !slices.Contains(out, s.Pattern) {
			out = append(out, s.Pattern)
		}
	}
	return out
}

// items are what the layers say of elements.
func (v value) items() []*model.Schema {
	var out []*model.Schema
	for _, s := range v.layers {
		if s.Items != nil {
			out = append(out, s.Items)
		}
	}
	return out
}

// elsewhere are the checks that have a rule of their own here.
var elsewhere = map[model.Check]bool{
	model.Required: true, model.Optional: true, model.Minimum: true, model.Maximum: true, model.MultipleOf: true,
	model.MinLength: true, model.MaxLength: true, model.MinItems: true, model.MaxItems: true, model.MinProperties: true,
	model.MaxProperties: true, model.Pattern: true, model.Enum: true, model.Immutable: true, model.Format: true,
}

// others are the rules that are only there or not, as a reader would say them.
func (v value) others() []string {
	var out []string
	add := func(s string) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, s := range v.layers {
		for _, r := range s.Rules {
			told := elsewhere[r.Check] || r.Check == model.Unique && r.Text == s.ListType
			if !told {
				add(strings.TrimSpace(string(r.Check) + " " + strings.Join(append(slices.DeleteFunc([]string{r.Text}, empty), r.Values...), " ")))
			}
		}
		for _, c := range s.CEL {
			add("CEL " + c.Rule)
		}
		if s.UniqueItems {
			add("uniqueItems")
		}
		for _, part := range parts(s) {
			add(part)
		}
	}
	return out
}

func empty(s string) bool { return s == "" }

// field is a property of an object.
type field struct {
	*model.Field
	required bool
	// fallback is the default as JSON, or empty.
	fallback string
	value    value
}

// fields are the properties of a struct by JSON name, inlined ones among them; one nearer to the outer struct wins.
func fields(p *model.Program, t *model.Type) map[string]*field {
	out := map[string]*field{}
	collect(p, t, out, map[*model.Type]bool{})
	return out
}

func collect(p *model.Program, t *model.Type, out map[string]*field, passed map[*model.Type]bool) {
	passed[t] = true
	for _, f := range t.Fields {
		if f.Ignored || f.Inline || f.JSON == "" || out[f.JSON] != nil {
			continue
		}
		x := &field{Field: f, value: valueOf(f.Type, &f.Schema), fallback: fallback(f)}
		x.required = !f.Schema.Optional && (f.Schema.Required || !f.OmitEmpty) && !x.filled()
		out[f.JSON] = x
	}
	for _, f := range t.Fields {
		if !f.Inline || f.Ignored {
			continue
		}
		if inner := f.Type.Pointee(); inner.Form == model.Struct && !passed[inner] {
			collect(p, inner, out, passed)
		}
	}
}

// filled tells a field that nobody has to send though it is always there: it has a default, or a zero value of Go that no
// marker forbids.
func (f *field) filled() bool {
	if f.fallback != "" {
		return true
	}
	return !f.Schema.Required && f.Field.Type.Form == model.Struct
}

// fallback is the default of a field or of its type, as JSON.
func fallback(f *model.Field) string {
	d := f.Default
	if d == nil {
		d = f.Type.Pointee().Default
	}
	if d == nil {
		return ""
	}
	if d.Ref == nil || d.JSON != "" {
		return canonical(d.JSON)
	}
	return fmt.Sprintf("%q", d.Ref.Path+"."+d.Ref.Name)
}

// canonical is JSON in one form; what isn't JSON is a string.
func canonical(text string) string {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		v = text
	}
	out, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return string(out)
}

// patch is how strategic merge patches treat a field.
func (f *field) patch() string {
	return strings.TrimSpace(f.Schema.PatchStrategy + " " + f.Schema.PatchMergeKey)
}
