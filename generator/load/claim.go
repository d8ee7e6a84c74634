package load

import (
	"slices"
	"strings"

	"apigen.dev/generator/marker"
	"apigen.dev/generator/model"
)

// claimed are the markers that only values of some form can have, and what these are.
var claimed = map[string]string{
	"listType": "lists", "k8s:listType": "lists", "mapType": "objects", "structType": "objects",
	valuePrefix + "EmbeddedResource": "objects", valuePrefix + "XEmbeddedResource": "objects",
	valuePrefix + "Type": "", valuePrefix + "XIntOrString": "",
}

// mergers say how values are merged, and nothing of values that aren't: upstream's own packages have some astray.
var mergers = map[string]bool{"listType": true, "k8s:listType": true, "mapType": true, "structType": true}

func claims(ms marker.Markers) []model.Claim {
	var out []model.Claim
	for _, m := range ms {
		if _, ok := claimed[m.Name]; ok && m.Value != "false" {
			out = append(out, model.Claim{Marker: m.Name, Value: marker.Unquote(m.Value), Pos: m.Pos})
		}
	}
	return out
}

// claims judges what a schema claims of the form of values, as far as Go's type tells it.
func (r *referee) claims(t *model.Type, s *model.Schema, name string) {
	at := t.Pointee()
	for _, c := range s.Claims {
		switch want := claimed[c.Marker]; {
		case c.Marker == valuePrefix+"Type":
			r.schemaType(s, c, at, name)
		case flexible(at, &model.Schema{}):
		case c.Marker == valuePrefix+"XIntOrString":
			if at.Form == model.Basic {
				r.errorf(c.Pos, "marker \"+%s\": %s is %s, and can't hold both numbers and strings: make it an intstr.IntOrString", c.Marker, name, kindOf(at))
			}
		case !ofForm(at, want) && mergers[c.Marker]:
			r.warnf(c.Pos, "marker \"+%s\" has no effect here: it is for %s, and %s is %s", c.Marker, want, name, kindOf(at))
		case !ofForm(at, want):
			r.errorf(c.Pos, "marker \"+%s\" is for %s, and %s is %s", c.Marker, want, name, kindOf(at))
		}
	}
}

func ofForm(t *model.Type, want string) bool {
	if want == "lists" {
		return t.Form == model.Slice || t.Form == model.Array
	}
	return t.Form == model.Map || t.Form == model.Struct
}

// schemaTypes are those of OpenAPI; Any is controller-gen's word for none.
var schemaTypes = []string{"array", "boolean", "integer", "number", "object", "string"}

// schemaType reports a type that no schema can have, and one that plain Go values never are of, and leaves them out.
func (r *referee) schemaType(s *model.Schema, c model.Claim, t *model.Type, name string) {
	if c.Value == "" || strings.EqualFold(c.Value, "any") {
		return
	}
	if !slices.Contains(schemaTypes, c.Value) {
		r.errorf(c.Pos, "marker \"+%s\": %q of %s is not one of %s", c.Marker, c.Value, name, strings.Join(schemaTypes, ", "))
		s.Type = ""
		return
	}
	if t == nil || t.Form != model.Basic || flexible(t, &model.Schema{}) || slices.Contains(typesOf(t), c.Value) {
		return
	}
	r.errorf(c.Pos, "marker \"+%s\": %s is %s in Go, and its JSON is never of type %s: give its type methods for JSON, or remove the marker", c.Marker, name, kindOf(t), c.Value)
	s.Type = ""
}

// typesOf are the types of a schema that the JSON of a plain value is of.
func typesOf(t *model.Type) []string {
	switch {
	case t.Basic == "string":
		return []string{"string"}
	case t.Basic == "bool":
		return []string{"boolean"}
	}
	return []string{"integer", "number"}
}
