package judge

import (
	"reflect"

	"apigen.dev/generator/internal/model"
)

// wire reports what JSON can't hold, in a field that is on the wire: one with a name in JSON.
func (r *checker) wire(owner *model.Type, f *model.Field) {
	if _, tagged := reflect.StructTag(f.Tag).Lookup("json"); !tagged || f.Ignored || !f.Exported || f.Inline {
		return
	}
	for t := f.Type; t != nil; t = t.Elem {
		if t != f.Type && t.Name != "" && t.Package != nil {
			return // it is judged by what is declared with it
		}
		if flexible(t, &f.Schema) && t.Form != model.Map {
			return
		}
		switch {
		case t.Form == model.Basic && (t.Basic == "complex64" || t.Basic == "complex128"):
			r.faultf(f.Pos, "%s is a %s, which JSON doesn't have: use two numbers", fieldOf(owner, f), t.Basic)
		case t.Form == model.Map && !keyOfJSON(t.Key):
			r.faultf(f.Pos, "%s is a map whose keys are %s, and those of JSON are strings: use a list of pairs, or "+
				"give the type of the keys a method MarshalText", fieldOf(owner, f), inPlural(t.Key))
		}
		if t.Form == model.Struct || t.Elem == f.Type {
			return // a type may hold itself: type Knot []Knot
		}
	}
}

// fieldOf names a field for people, with its struct where that has a name.
func fieldOf(owner *model.Type, f *model.Field) string {
	if owner.Name == "" {
		return f.Name
	}
	return owner.Name + "." + f.Name
}

// keyOfJSON reports whether encoding/json makes names of properties of the values of a type.
func keyOfJSON(t *model.Type) bool {
	if t == nil || t.Form == model.TypeParam {
		return true
	}
	if m, _ := t.Method("MarshalText"); m != nil && !m.PointerReceiver { // a key has no address
		return true
	}
	return t.Form == model.Basic && (t.Basic == "string" || t.Bits() != 0)
}

func inPlural(t *model.Type) string {
	switch t.Form {
	case model.Basic:
		if t.Basic == "bool" {
			return "true or false"
		}
		return "numbers with fractions"
	case model.Struct:
		return "structs"
	case model.Pointer:
		return "pointers"
	}
	return "no plain values"
}
