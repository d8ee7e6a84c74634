package judge

import (
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

// claims judges what a schema claims of the form of values, as far as Go's type tells it.
func (r *checker) claims(t *model.Type, s *model.Schema, name string) {
	at := t.Pointee()
	for _, c := range s.Claims {
		switch form := c.Form; {
		case form == model.ConstantStrings:
			r.constants(c, t, name)
		case form == model.SchemaTypes:
			r.schemaType(s, c, at, name)
		case opaque(at):
		case form == model.IntsOrStrings:
			if at.Form == model.Basic {
				r.faultf(c.Pos, "marker \"+%s\": %s is %s, and can't hold both numbers and strings: make it an "+
					"intstr.IntOrString", c.Marker, name, at.Describe())
			}
		case form == model.MergedLists && !at.IsList():
			r.warnf(c.Pos, noEffect, c.Marker, "lists", name, at.Describe())
		case form == model.MergedObjects && !isObject(at):
			r.warnf(c.Pos, noEffect, c.Marker, "objects", name, at.Describe())
		case form == model.Objects && !isObject(at):
			r.faultf(c.Pos, "marker \"+%s\" is for objects, and %s is %s", c.Marker, name, at.Describe())
		}
	}
}

// noEffect is the warning about a marker of merging on a value of another form: Kubernetes has some.
const noEffect = "marker \"+%s\" has no effect here: it is for %s, and %s is %s"

func isObject(t *model.Type) bool { return t.Form == model.Map || t.Form == model.Struct }

// constants reports an enumeration of a type without constants that a schema would list.
func (r *checker) constants(c model.Claim, t *model.Type, name string) {
	declarative := func(rule model.Rule) bool { return rule.Check == model.Enum && rule.Declarative }
	if t.IsString() || slices.ContainsFunc(t.Schema.Rules, declarative) {
		return
	}
	remedy := "remove it"
	if t.Form == model.Basic {
		remedy = "write the values as +" + values + "Enum=1;2;3"
	}
	r.faultf(c.Pos, "marker \"+%s\": the constants of strings are values, and %s is %s: %s", c.Marker, name,
		t.Describe(), remedy)
}

// schemaTypes are those of OpenAPI; Any is controller-gen's word for none.
var schemaTypes = []string{"array", "boolean", "integer", "number", "object", "string"}

// schemaType reports a type that no schema can have, and one that plain Go values never are of.
func (r *checker) schemaType(s *model.Schema, c model.Claim, t *model.Type, name string) {
	if c.Value == "" || strings.EqualFold(c.Value, "any") {
		return
	}
	if !slices.Contains(schemaTypes, c.Value) {
		r.faultf(c.Pos, "marker \"+%s\": %q of %s is not one of %s", c.Marker, c.Value, name,
			strings.Join(schemaTypes, ", "))
		r.withoutType(s)
		return
	}
	if t == nil || t.Form != model.Basic || opaque(t) || slices.Contains(typesOf(t), c.Value) {
		return
	}
	r.faultf(c.Pos, "marker \"+%s\": %s is %s in Go, and its JSON is never of type %s: give its type methods for "+
		"JSON, or remove the marker", c.Marker, name, t.Describe(), c.Value)
	r.withoutType(s)
}

// withoutType lets the last finding take the type from a schema.
func (r *checker) withoutType(s *model.Schema) {
	r.omit(func() { s.Type = "" })
	if kept := r.kept[s]; kept != nil {
		kept.Type = ""
	}
}

// typesOf returns the types of a schema that the JSON of a plain value is of.
func typesOf(t *model.Type) []string {
	switch t.Basic {
	case "string":
		return []string{"string"}
	case "bool":
		return []string{"boolean"}
	}
	return []string{"integer", "number"}
}
