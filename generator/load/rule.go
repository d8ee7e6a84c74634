package load

import (
	"slices"
	"strings"

	"apigen.dev/generator/marker"
	"apigen.dev/generator/model"
)

// The prefixes of controller-gen's markers for values and for the elements of lists.
const (
	valuePrefix   = "kubebuilder:validation:"
	elementPrefix = valuePrefix + "items:"
)

// checks are the markers that are checked when objects are written, as rules that need nothing but their value.
var checks = map[string]model.Check{
	"required":               model.Required,
	valuePrefix + "Required": model.Required,

	valuePrefix + "Minimum":       model.Minimum,
	valuePrefix + "Maximum":       model.Maximum,
	valuePrefix + "MultipleOf":    model.MultipleOf,
	valuePrefix + "MinLength":     model.MinLength,
	valuePrefix + "MaxLength":     model.MaxLength,
	valuePrefix + "Pattern":       model.Pattern,
	valuePrefix + "Format":        model.Format,
	valuePrefix + "Enum":          model.Enum,
	valuePrefix + "MinItems":      model.MinItems,
	valuePrefix + "MaxItems":      model.MaxItems,
	valuePrefix + "MinProperties": model.MinProperties,
	valuePrefix + "MaxProperties": model.MaxProperties,

	"k8s:required":           model.Required,
	"k8s:optional":           model.Optional,
	"k8s:forbidden":          model.Forbidden,
	"k8s:minimum":            model.Minimum,
	"k8s:maximum":            model.Maximum,
	"k8s:minLength":          model.MinLength,
	"k8s:maxLength":          model.MaxLength,
	"k8s:maxBytes":           model.MaxBytes,
	"k8s:format":             model.Format,
	"k8s:enum":               model.Enum,
	"k8s:neq":                model.NotEqual,
	"k8s:minItems":           model.MinItems,
	"k8s:maxItems":           model.MaxItems,
	"k8s:minProperties":      model.MinProperties,
	"k8s:maxProperties":      model.MaxProperties,
	"k8s:immutable":          model.Immutable,
	"k8s:update":             model.Update,
	"k8s:monotonic":          model.Monotonic,
	"k8s:unionMember":        model.UnionMember,
	"k8s:unionDiscriminator": model.UnionDiscriminator,
	"k8s:zeroOrOneOfMember":  model.ZeroOrOneOfMember,
	"k8s:modeDiscriminator":  model.ModeDiscriminator,
	"k8s:dependentRequired":  model.DependentRequired,
	"k8s:dependentForbidden": model.DependentForbidden,
}

// parts are markers sorted by the part of a value that they are about.
type parts struct {
	items, keys marker.Markers
	subfields   []part
	elements    []part
	modes       []part
}

// part is a part of a value, and the markers that are about it.
type part struct {
	model.Part
	markers marker.Markers
}

// rules reads the constraints that are checked when objects are written.
func (b *builder) rules(s *model.Schema, t *model.Type, ms marker.Markers) {
	var p parts
	for _, m := range ms {
		off := m.Value == "false" && m.Definition != nil && (m.Definition.Kind == marker.Flag || m.Definition.Kind == marker.Bool)
		if p.take(m) || off {
			continue
		}
		if r, ok := rule(m, s); ok {
			s.Rules = append(s.Rules, r)
		}
	}
	uniqueness(s, ms)
	s.Opaque = ms.Has("k8s:opaqueType")
	var elem, key *model.Type
	if at := t.Pointee(); at != nil {
		elem, key = at.Elem, at.Key
	}
	s.Items, s.Keys = b.partSchema(elem, p.items), b.partSchema(key, p.keys)
	s.Subfields, s.Elements, s.Modes = b.partSchemas(nil, p.subfields), b.partSchemas(elem, p.elements), b.partSchemas(t, p.modes)
}

// take sorts a marker in that is about a part of the value, and tells whether it is.
func (p *parts) take(m marker.Marker) bool {
	if rest, ok := strings.CutPrefix(m.Name, elementPrefix); ok {
		m.Name = valuePrefix + rest
		m.Definition, _ = marker.Lookup(m.Name)
		p.items = append(p.items, m)
		return true
	}
	if m.Wrapped == nil {
		return false
	}
	w := *m.Wrapped
	named := func(name string) string { v, _ := m.Arg(name); return marker.Unquote(v) }
	switch m.Name {
	case "k8s:eachVal":
		p.items = append(p.items, w)
	case "k8s:eachKey":
		p.keys = append(p.keys, w)
	case "k8s:subfield":
		p.subfields = add(p.subfields, model.Part{Name: named(""), Pos: m.Pos}, w)
	case "k8s:ifMode":
		name := named("")
		if name == "" {
			name = named("mode")
		}
		p.modes = add(p.modes, model.Part{Name: name, Group: named("modality"), Pos: m.Pos}, w)
	case "k8s:item":
		var keys []model.KeyValue
		for _, a := range m.Args {
			keys = append(keys, model.KeyValue{Key: a.Key, Value: marker.Unquote(a.Value)})
		}
		p.elements = add(p.elements, model.Part{Keys: keys, Pos: m.Pos}, w)
	}
	return true
}

// add adds a marker to the part that it is about.
func add(to []part, p model.Part, m marker.Marker) []part {
	for i := range to {
		if to[i].Name == p.Name && to[i].Group == p.Group && slices.Equal(to[i].Keys, p.Keys) {
			to[i].markers = append(to[i].markers, m)
			return to
		}
	}
	return append(to, part{Part: p, markers: marker.Markers{m}})
}

func (b *builder) partSchema(t *model.Type, ms marker.Markers) *model.Schema {
	if len(ms) == 0 {
		return nil
	}
	s := new(model.Schema)
	b.schema(s, t, effective(ms))
	return s
}

func (b *builder) partSchemas(t *model.Type, parts []part) []model.Part {
	var out []model.Part
	for _, p := range parts {
		if p.Schema = b.partSchema(t, p.markers); p.Schema.Checked() || p.Schema.Optional {
			out = append(out, p.Part)
		}
	}
	return out
}

// rule is the rule that a marker stands for, given the rest of what markers say.
func rule(m marker.Marker, s *model.Schema) (model.Rule, bool) {
	r := model.Rule{Check: checks[m.Name], Declarative: strings.HasPrefix(m.Name, "k8s:"), Marker: written(m), Pos: m.Pos}
	r.Text = strings.TrimSpace(m.Value)
	switch m.Name {
	case valuePrefix + "ExactlyOneOf":
		r.Check, r.Values, r.Least, r.Most = model.OneOf, m.Strings(), 1, 1
	case valuePrefix + "AtMostOneOf":
		r.Check, r.Values, r.Most = model.OneOf, m.Strings(), 1
	case valuePrefix + "AtLeastOneOf":
		r.Check, r.Values, r.Least, r.Most = model.OneOf, m.Strings(), 1, -1
	case valuePrefix + "UniqueItems":
		r.Check, r.Text = model.Unique, "set"
	case "k8s:unique":
		r.Check = model.Unique
	}
	switch r.Check {
	case "":
		return r, false
	case model.Enum:
		if !r.Declarative {
			r.Values = s.Enum
		}
	case model.Minimum:
		r.Exclusive = !r.Declarative && s.ExclusiveMinimum
	case model.Maximum:
		r.Exclusive = !r.Declarative && s.ExclusiveMaximum
	case model.Format, model.NotEqual:
		r.Text = marker.Unquote(r.Text)
	case model.Update:
		r.Values = strings.FieldsFunc(r.Text, func(c rune) bool { return c == ',' || c == ' ' })
	case model.UnionMember, model.UnionDiscriminator, model.ZeroOrOneOfMember:
		group, _ := m.Arg("union")
		member, _ := m.Arg("memberName")
		r.Text, r.Values = marker.Unquote(group), []string{marker.Unquote(member)}
	case model.ModeDiscriminator:
		group, _ := m.Arg("modality")
		r.Text = marker.Unquote(group)
	case model.DependentRequired, model.DependentForbidden:
		sibling, _ := m.Arg("")
		r.Text = marker.Unquote(sibling)
	}
	return r, true
}

// written is the name of a marker as the user wrote it: that of one for elements is another while it is read.
func written(m marker.Marker) string {
	if !strings.HasPrefix(m.Text, elementPrefix) {
		return m.Name
	}
	name, _, _ := strings.Cut(m.Text, "=")
	return strings.TrimSuffix(name, ":")
}

// uniqueness adds the rule that comes with the type of a list: the elements of a set, and the keys of a map, are unique.
func uniqueness(s *model.Schema, ms marker.Markers) {
	if ms.Has("k8s:customUnique") {
		s.Rules = slices.DeleteFunc(s.Rules, func(r model.Rule) bool { return r.Check == model.Unique })
		return
	}
	if s.Rule(model.Unique) != nil || s.ListType != "set" && s.ListType != "map" {
		return
	}
	m, declarative := ms.Get("k8s:listType")
	if !declarative {
		m, _ = ms.Get("listType")
	}
	s.Rules = append(s.Rules, model.Rule{Check: model.Unique, Declarative: declarative, Text: s.ListType, Marker: m.Name, Pos: m.Pos})
}
