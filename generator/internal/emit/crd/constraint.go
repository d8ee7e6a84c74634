package crd

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
	"apigen.dev/runtime/cel"
)

// constrainPlace adds the constraints of the markers at a place. Where the value is of a named type, flat adds the
// constraints of its elements later, when it has merged the type.
func constrainPlace(p *place, c *model.Schema, t *schema.Type) {
	constrain(p.here, c, t.Go)
	p.items, p.elem = c.Items, t.Elem
	if p.named == nil {
		elements(p.here, p.items, p.elem)
		p.items = nil
	}
}

func elements(s object, c *model.Schema, t *schema.Type) {
	if c == nil || t == nil {
		return
	}
	for _, key := range []string{"items", "additionalProperties"} {
		element, ok := s[key].(object)
		if !ok {
			continue
		}
		if t.Named() {
			here := object{}
			constrain(here, c, t.Go)
			merge(element, here)
		} else {
			constrain(element, c, t.Go)
		}
		elements(element, c.Items, t.Elem)
	}
}

func constrain(s object, c *model.Schema, t *model.Type) {
	text(s, "type", c.Type)
	maps.Copy(s, schema.Keywords(c))
	if c.IntOrString {
		delete(s, "type") // which a cluster refuses beside it
	}
	if len(c.Enum) == 0 && c == &t.Schema {
		enum(s, t)
	}
	if d := c.ExternalDocs; d != nil {
		docs := object{"url": d.URL}
		text(docs, "description", d.Description)
		s["externalDocs"] = docs
	}
	if marked(c, "k8s:required") {
		notEmpty(s, t.Pointee())
	}
	if rules := validations(c); len(rules) > 0 {
		before, _ := s["x-kubernetes-validations"].([]any)
		s["x-kubernetes-validations"] = append(before, rules...)
	}
}

func marked(c *model.Schema, marker string) bool {
	return slices.ContainsFunc(c.Rules, func(r model.Rule) bool { return r.Marker == marker })
}

// notEmpty adds a minimum of 1 to a field that Kubernetes' own grammar requires: there, an empty value is not a value.
func notEmpty(s object, t *model.Type) {
	var keyword string
	switch {
	case t.Form == model.Basic && t.Basic == "string":
		keyword = "minLength"
	case t.Form == model.Slice || t.Form == model.Array:
		keyword = "minItems"
	case t.Form == model.Map || t.Form == model.Struct:
		keyword = "minProperties"
	}
	if keyword != "" && s[keyword] == nil {
		s[keyword] = int64(1)
	}
}

func enum(s object, t *model.Type) {
	if !marked(&t.Schema, "k8s:enum") {
		return
	}
	var values []any
	for _, c := range schema.ConstantsByValue(t) {
		values = append(values, schema.Literal(c.Value))
	}
	list(s, "enum", values)
}

// validations returns the CEL rules: the user's, and those by which controller-gen expresses other markers.
func validations(c *model.Schema) []any {
	var out []any
	if c.Immutable {
		out = append(out, object{"rule": "self == oldSelf", "message": "field is immutable"})
	}
	out = append(out, schema.Validations(c)...)
	for _, kind := range []struct{ least, most int }{{0, 1}, {1, 1}, {1, -1}} {
		for i := range c.Rules {
			r := &c.Rules[i]
			if r.Check == model.OneOf && len(r.Values) > 0 && r.Least == kind.least && r.Most == kind.most {
				out = append(out, oneOf(r))
			}
		}
	}
	return out
}

func oneOf(r *model.Rule) object {
	var counted, has []string
	for _, name := range r.Values {
		if escaped, ok := cel.Escape(name); ok { // which isn't controller-gen's, whose rule doesn't compile
			name = escaped
		}
		has = append(has, "has(self."+name+")")
		counted = append(counted, "(has(self."+name+")?1:0)")
	}
	rule := strings.Join(counted, "+") + " == 1"
	switch {
	case r.Most < 0:
		rule = strings.Join(has, "||")
	case r.Least == 0:
		rule = strings.Join(counted, "+") + " <= 1"
	}
	return object{"rule": rule, "message": schema.OneOfMessage(r)}
}

// setDefault adds the default of a field. It leaves out a constant whose value is unknown.
func setDefault(s object, f *schema.Field) {
	if f.Default != nil && f.Default.JSON != "" {
		s["default"] = schema.Literal(f.Default.JSON)
	}
}

// merge merges a schema into another, since a document without references needs everything in place: a struct gets the
// properties of the structs that it embeds, and a place the schema of its type. Where both have different values of a
// keyword, merge joins the values if it can, and otherwise puts both into allOf.
func merge(dst, src object) {
	all, _ := src["allOf"].([]any)
	for _, part := range all {
		merge(dst, part.(object))
	}
	ofDst, ofSrc := object{}, object{}
	for key, value := range src {
		switch {
		case key == "allOf" || documentation[key]:
			continue
		case dst[key] == nil:
			dst[key] = clone(value)
		case key == "enum" || scalar[key] && reflect.DeepEqual(dst[key], value):
			continue // the nearer enumeration is the type's
		case join(dst, key, value):
		default:
			ofDst[key], ofSrc[key] = dst[key], clone(value)
			delete(dst, key)
		}
	}
	if len(ofDst) > 0 {
		both, _ := dst["allOf"].([]any)
		dst["allOf"] = append(both, ofDst, ofSrc)
	}
}

// documentation holds the keywords that are never joined: the place's own count, else the type's.
var documentation = map[string]bool{"description": true, "title": true, "example": true, "externalDocs": true}

// scalar are the keywords that are merged where both values are equal. Of bounds, controller-gen keeps both.
var scalar = map[string]bool{
	"type": true, "format": true, "pattern": true, "exclusiveMinimum": true, "exclusiveMaximum": true,
	"uniqueItems": true,
	"nullable":    true, "x-kubernetes-embedded-resource": true, "x-kubernetes-int-or-string": true,
	"minProperties": true, "maxProperties": true,
}

func join(dst object, key string, value any) bool {
	switch key {
	case "properties":
		properties := dst[key].(object)
		for name, s := range value.(object) {
			if properties[name] == nil {
				properties[name] = clone(s)
				continue
			}
			merge(properties[name].(object), s.(object))
		}
	case "required":
		all := slices.Concat(dst[key].([]string), value.([]string))
		slices.Sort(all)
		dst[key] = slices.Compact(all)
	case "type": // the type's, whatever the place says
	case "default": // of two fields with one name; allOf may have none
		dst[key] = clone(value)
	case "additionalProperties":
		merge(dst[key].(object), value.(object))
	case "x-kubernetes-preserve-unknown-fields", "x-kubernetes-map-type", "x-kubernetes-list-type",
		"x-kubernetes-list-map-keys":
		dst[key] = clone(value)
	case "x-kubernetes-validations":
		dst[key] = slices.Concat(clone(value).([]any), dst[key].([]any))
	default:
		return false
	}
	return true
}

// clone copies objects and lists deeply. Other values are immutable.
func clone(v any) any {
	switch v := v.(type) {
	case object:
		out := make(object, len(v))
		for key, value := range v {
			out[key] = clone(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = clone(v[i])
		}
		return out
	}
	return v
}
