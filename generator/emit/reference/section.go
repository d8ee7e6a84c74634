package reference

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"apigen.dev/generator/model"
)

// section describes a named type.
func (m *maker) section(t *model.Type) *section {
	s := &section{Name: t.Name, Anchor: m.anchor(t), Text: parse(t.Doc), Rules: rules(&t.Schema)}
	switch {
	case t.Form == model.Struct:
		m.fields(t, s, map[string]bool{}, map[*model.Type]bool{})
		s.Rules = append(s.Rules, unions(t)...)
	case t.Enum:
		s.Shape = m.form(t)
		s.Values = constants(t)
	default:
		s.Shape = m.form(t)
	}
	return s
}

// fields adds the fields of a struct and of what it inlines, in their order; one nearer to the outer struct wins.
func (m *maker) fields(t *model.Type, s *section, seen map[string]bool, passed map[*model.Type]bool) {
	passed[t] = true
	var own []*model.Field
	for _, f := range t.Fields {
		if named := !f.Ignored && !f.Inline && f.JSON != ""; named && !seen[f.JSON] {
			seen[f.JSON] = true
			own = append(own, f)
		}
	}
	for _, f := range t.Fields {
		switch inner := f.Type.Pointee(); {
		case slices.Contains(own, f):
			s.Fields = append(s.Fields, m.field(f))
		case !f.Ignored && f.Inline && inner.Form == model.Struct && !passed[inner] && !(m.kinds[t] && inner.Name == "TypeMeta"):
			m.fields(inner, s, seen, passed)
		}
	}
}

func (m *maker) field(f *model.Field) field {
	out := field{
		Name: f.JSON, Shape: m.shape(f.Type), Text: parse(f.Doc), Default: m.fallback(f),
		Required: !f.Schema.Optional && (f.Schema.Required || !f.OmitEmpty),
	}
	if out.Default != "" && !f.Schema.Required {
		out.Required = false
	}
	out.Rules = rules(&f.Schema)
	switch {
	case f.Schema.IntOrString:
		out.Shape = shape{Name: "integer or string"}
	case f.Schema.Schemaless:
		out.Shape = shape{Name: "any value"}
	case f.Schema.Type != "":
		out.Shape = shape{Name: f.Schema.Type}
	}
	if f.Schema.Items != nil {
		for _, r := range rules(f.Schema.Items) {
			out.Rules = append(out.Rules, "each: "+r)
		}
	}
	return out
}

// fallback is the default of a field or its type, as JSON.
func (m *maker) fallback(f *model.Field) string {
	d := f.Default
	if d == nil {
		d = f.Type.Pointee().Default
	}
	if d == nil {
		return ""
	}
	if d.Ref == nil || d.JSON != "" {
		return d.JSON
	}
	return d.Ref.Name
}

// constants are the values of an enumeration, in the order of the source.
func constants(t *model.Type) []enumValue {
	var out []enumValue
	for _, c := range t.Package.Consts {
		if c.Type == t && !c.Excluded && !slices.ContainsFunc(out, func(v enumValue) bool { return v.Value == c.Value }) {
			out = append(out, enumValue{Value: c.Value, Text: parse(c.Doc)})
		}
	}
	return out
}

// elsewhere are types of Kubernetes, in words, and where they are described.
var elsewhere = map[string]shape{
	"k8s.io/apimachinery/pkg/apis/meta/v1.ObjectMeta":    {Name: "ObjectMeta", Link: "https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/"},
	"k8s.io/apimachinery/pkg/apis/meta/v1.ListMeta":      {Name: "ListMeta", Link: "https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/list-meta/"},
	"k8s.io/apimachinery/pkg/apis/meta/v1.LabelSelector": {Name: "LabelSelector", Link: "https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/label-selector/"},
	"k8s.io/apimachinery/pkg/api/resource.Quantity":      {Name: "Quantity", Link: "https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/"},
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":          {Name: "string (RFC 3339 time)"},
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":     {Name: "string (RFC 3339 time in microseconds)"},
	"time.Time": {Name: "string (RFC 3339 time)"},
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":   {Name: "string (duration: 1h30m)"},
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString": {Name: "integer or string"},
	"k8s.io/apimachinery/pkg/runtime.RawExtension":    {Name: "object of any kind"},
	"encoding/json.RawMessage":                        {Name: "any value"},
}

// shape is a type where it is used.
func (m *maker) shape(t *model.Type) shape {
	for range 8 { // pointers; nobody points at more
		if t.Form != model.Pointer || t.Name != "" || t.Elem == nil {
			break
		}
		t = t.Elem
	}
	if t.Name == "" || t.Package == nil {
		return m.form(t)
	}
	if known, ok := elsewhere[t.Package.Path+"."+t.Name]; ok {
		return known
	}
	if t.SchemaType != "" {
		return shape{Name: strings.TrimSpace(t.SchemaType + " " + t.SchemaFormat)}
	}
	if home := t.Package.Home(); home.Module == nil || !home.Module.Own {
		if t.Form != model.Struct {
			return m.form(t)
		}
		return shape{Name: t.Name, After: " (" + t.Package.Path + ")"}
	}
	return shape{Name: t.Name, Link: "#" + m.anchor(t)}
}

// form is what a type is made of.
func (m *maker) form(t *model.Type) shape {
	wrap := func(before string, of *model.Type) shape {
		s := m.shape(of)
		s.Before = before + s.Before
		return s
	}
	switch t.Form {
	case model.Basic:
		return shape{Name: basic(t.Basic)}
	case model.Slice, model.Array:
		if t.Elem.Form == model.Basic && (t.Elem.Basic == "byte" || t.Elem.Basic == "uint8") {
			return shape{Name: "string (base64)"}
		}
		return wrap("list of ", t.Elem)
	case model.Map:
		return wrap("map of ", t.Elem)
	case model.Struct:
		return shape{Name: "object"}
	}
	return shape{Name: "any value"}
}

func basic(name string) string {
	switch name {
	case "bool":
		return "boolean"
	case "float32", "float64":
		return "number"
	case "string":
		return "string"
	}
	return "integer"
}

// rules are the constraints of a schema in words.
func rules(s *model.Schema) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	bounds(s, add)
	if s.Pattern != "" {
		add("matches %s", code(s.Pattern))
	}
	if s.Format != "" {
		add("format %s", s.Format)
	}
	if len(s.Enum) > 0 {
		values := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			values[i] = code(v)
		}
		add("one of %s", strings.Join(values, ", "))
	}
	if s.Immutable || s.Rule(model.Immutable) != nil {
		add("can't be changed")
	}
	if s.Nullable {
		add("may be null")
	}
	switch s.ListType {
	case "map":
		add("items differ in %s", strings.Join(s.ListMapKeys, ", "))
	case "set":
		add("items differ")
	}
	if s.UniqueItems && s.ListType == "" {
		add("items differ")
	}
	for _, r := range s.Rules {
		if r.Check == model.OneOf {
			add("%s", oneOf(r.Least, r.Most, r.Values))
		}
	}
	for _, r := range s.CEL {
		if r.Message != "" {
			add("%s (%s)", r.Message, code(r.Rule))
		} else {
			add("%s", code(r.Rule))
		}
	}
	return out
}

// code marks a piece of text as code, for words that may be shown as such.
func code(s string) string { return codeMark + s + codeMark }

// codeMark is a character that no source holds in text: the templates show what is between two of them as code.
const codeMark = "\x00"

func bounds(s *model.Schema, add func(string, ...any)) {
	number := func(f *float64) string { return strconv.FormatFloat(*f, 'g', -1, 64) }
	if s.Minimum != nil {
		add("%s %s", map[bool]string{false: "at least", true: "more than"}[s.ExclusiveMinimum], number(s.Minimum))
	}
	if s.Maximum != nil {
		add("%s %s", map[bool]string{false: "at most", true: "less than"}[s.ExclusiveMaximum], number(s.Maximum))
	}
	if s.MultipleOf != nil {
		add("a multiple of %s", number(s.MultipleOf))
	}
	for _, b := range []struct {
		least, most *int64
		one, many   string
	}{{s.MinLength, s.MaxLength, "character", "characters"}, {s.MinItems, s.MaxItems, "item", "items"}, {s.MinProperties, s.MaxProperties, "entry", "entries"}} {
		counted := func(n int64) string {
			if n == 1 {
				return "1 " + b.one
			}
			return strconv.FormatInt(n, 10) + " " + b.many
		}
		switch {
		case b.least != nil && b.most != nil && *b.least == *b.most:
			add("%s", counted(*b.least))
		case b.least != nil && b.most != nil:
			add("%d to %s", *b.least, counted(*b.most))
		case b.least != nil:
			add("at least %s", counted(*b.least))
		case b.most != nil:
			add("at most %s", counted(*b.most))
		}
	}
}
