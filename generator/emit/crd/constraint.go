package crd

import (
	"encoding/json"
	"slices"
	"strings"

	"apigen.dev/generator/model"
)

// constrainPlace says at a place what markers say of its value. Where that is of a named type, what its elements must be is
// said when the type is there.
func (b *builder) constrainPlace(p *place, c *model.Schema, t *model.Type) {
	b.constrain(p.said, c, t)
	p.items, p.elem = c.Items, t.Pointee().Elem
	if p.of == nil {
		b.elements(p.said, p.items, p.elem)
		p.items = nil
	}
}

// elements says what markers say of the elements of a list, or of the values of a map.
func (b *builder) elements(s object, c *model.Schema, t *model.Type) {
	if c == nil || t == nil {
		return
	}
	for _, key := range []string{"items", "additionalProperties"} {
		element, ok := s[key].(object)
		if !ok {
			continue
		}
		if p := t.Pointee(); p.Package == nil || p.Name == "" {
			b.constrain(element, c, t)
		} else {
			said := object{}
			b.constrain(said, c, t)
			merge(element, said)
		}
		b.elements(element, c.Items, t.Pointee().Elem)
	}
}

// constrain says what markers say of a value.
func (b *builder) constrain(s object, c *model.Schema, t *model.Type) {
	text(s, "type", c.Type)
	text(s, "format", c.Format)
	text(s, "pattern", c.Pattern)
	text(s, "title", c.Title)
	number(s, "minimum", c.Minimum)
	number(s, "maximum", c.Maximum)
	number(s, "multipleOf", c.MultipleOf)
	flag(s, "exclusiveMinimum", c.ExclusiveMinimum)
	flag(s, "exclusiveMaximum", c.ExclusiveMaximum)
	count(s, "minLength", c.MinLength)
	count(s, "maxLength", c.MaxLength)
	count(s, "minItems", c.MinItems)
	count(s, "maxItems", c.MaxItems)
	count(s, "minProperties", c.MinProperties)
	count(s, "maxProperties", c.MaxProperties)
	flag(s, "nullable", c.Nullable)
	b.enum(s, c, t)
	if c.Example != "" {
		s["example"] = value(c.Example)
	}
	if d := c.ExternalDocs; d != nil {
		docs := object{"url": d.URL}
		text(docs, "description", d.Description)
		s["externalDocs"] = docs
	}
	if slices.ContainsFunc(c.Rules, func(r model.Rule) bool { return r.Marker == "k8s:required" }) {
		something(s, t)
	}
	extensions(s, c)
}

// extensions says what OpenAPI has no word for.
func extensions(s object, c *model.Schema) {
	text(s, "x-kubernetes-list-type", c.ListType)
	if len(c.ListMapKeys) > 0 {
		s["x-kubernetes-list-map-keys"] = slices.Clone(c.ListMapKeys)
	}
	text(s, "x-kubernetes-map-type", c.MapType)
	text(s, "x-kubernetes-map-type", c.StructType)
	flag(s, preserve, c.PreserveUnknownFields)
	flag(s, "x-kubernetes-embedded-resource", c.EmbeddedResource)
	if c.IntOrString {
		s[either] = true
		delete(s, "type") // which a cluster refuses beside it
	}
	if rules := validations(c); len(rules) > 0 {
		before, _ := s["x-kubernetes-validations"].([]any)
		s["x-kubernetes-validations"] = append(before, rules...)
	}
}

// something says that what Kubernetes' own grammar requires is not empty: there, an empty value is none.
func something(s object, t *model.Type) {
	one := int64(1)
	switch t = t.Pointee(); {
	case t.Form == model.Basic && t.Basic == "string":
		fallback(s, "minLength", one)
	case t.Form == model.Slice || t.Form == model.Array:
		fallback(s, "minItems", one)
	case t.Form == model.Map || t.Form == model.Struct:
		fallback(s, "minProperties", one)
	}
}

func fallback(s object, key string, value int64) {
	if s[key] == nil {
		s[key] = value
	}
}

// enum says the values of an enumeration, those of the constants of a type marked +k8s:enum.
func (b *builder) enum(s object, c *model.Schema, t *model.Type) {
	var values []any
	for _, v := range c.Enum {
		values = append(values, value(v))
	}
	if len(values) == 0 && c == &t.Schema && t.Package != nil && slices.ContainsFunc(c.Rules, func(r model.Rule) bool { return r.Marker == "k8s:enum" }) {
		var texts []string
		for _, x := range t.Package.Consts {
			if x.Type == t && !x.Excluded {
				texts = append(texts, x.Value)
			}
		}
		slices.Sort(texts)
		for _, v := range slices.Compact(texts) {
			values = append(values, value(v))
		}
	}
	if len(values) > 0 {
		s["enum"] = values
	}
}

// validations are the rules in CEL: those of the user, and those that other markers stand for, as controller-gen writes them.
func validations(c *model.Schema) []any {
	var out []any
	if c.Immutable {
		out = append(out, object{"rule": "self == oldSelf", "message": "field is immutable"})
	}
	for _, r := range c.CEL {
		rule := object{"rule": r.Rule}
		text(rule, "message", r.Message)
		text(rule, "messageExpression", r.MessageExpression)
		text(rule, "reason", r.Reason)
		text(rule, "fieldPath", r.FieldPath)
		flag(rule, "optionalOldSelf", r.OptionalOldSelf)
		out = append(out, rule)
	}
	for _, kind := range []struct{ least, most int }{{0, 1}, {1, 1}, {1, -1}} {
		for _, r := range c.Rules {
			if r.Check == model.OneOf && len(r.Values) > 0 && r.Least == kind.least && r.Most == kind.most {
				out = append(out, oneOf(r))
			}
		}
	}
	return out
}

// oneOf is the rule that bounds how many of some fields are set.
func oneOf(r model.Rule) object {
	var counted, has []string
	for _, name := range r.Values {
		has = append(has, "has(self."+name+")")
		counted = append(counted, "(has(self."+name+")?1:0)")
	}
	fields := "[" + strings.Join(r.Values, " ") + "]"
	switch {
	case r.Most < 0:
		return object{"rule": strings.Join(has, "||"), "message": "at least one of the fields in " + fields + " must be set"}
	case r.Least == 0:
		return object{"rule": strings.Join(counted, "+") + " <= 1", "message": "at most one of the fields in " + fields + " may be set"}
	}
	return object{"rule": strings.Join(counted, "+") + " == 1", "message": "exactly one of the fields in " + fields + " must be set"}
}

// byDefault says the default: the marker's on the field, or on its type.
func (b *builder) byDefault(s object, f *model.Field) {
	d := f.Default
	if d == nil {
		d = f.Type.Pointee().Default
	}
	switch {
	case d == nil:
	case d.Ref == nil:
		s["default"] = value(d.JSON)
	default:
		if literal := b.constant(d.Ref, f.Type.Pointee()); literal != "" {
			s["default"] = value(literal)
		}
	}
}

// constant is the value of a constant, which may be one of a type of a dependency; empty where it isn't known.
func (b *builder) constant(ref *model.Ref, t *model.Type) string {
	packages := b.program.Packages
	if t != nil && t.Package != nil {
		packages = append(slices.Clip(packages), t.Package)
	}
	for _, p := range packages {
		if p.Path != ref.Path {
			continue
		}
		for _, c := range p.Consts {
			if c.Name == ref.Name {
				return c.Value
			}
		}
	}
	return ""
}

// value is a value that is written as JSON; what is not is taken as a string.
func value(text string) any {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return text
	}
	return v
}

func flag(s object, key string, value bool) {
	if value {
		s[key] = true
	}
}

func number(s object, key string, value *float64) {
	if value != nil {
		s[key] = *value
	}
}

func count(s object, key string, value *int64) {
	if value != nil {
		s[key] = *value
	}
}
