package check

import (
	"fmt"
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
)

// Unions returns the unions of a struct by name, zero-or-one-of unions last.
func Unions(t *model.Type) schema.Unions { return checked(schema.UnionsOf(t)) }

// SubfieldUnions returns the unions that the markers of a place make of fields of its struct.
func SubfieldUnions(t *model.Type, s *model.Schema) schema.Unions {
	var found schema.Unions
	for _, p := range s.Subfields {
		if f := FieldByJSON(t, p.Name); f != nil {
			found.Add(f, p.Schema.Rules)
		}
	}
	return checked(found)
}

// checked returns the unions whose members can be absent, sorted.
func checked(found schema.Unions) schema.Unions {
	always := func(f *model.Field) bool { return f.Type.Form == model.Struct || f.JSON == "" }
	out := slices.DeleteFunc(found, func(u *schema.Union) bool {
		return len(u.Members) == 0 || slices.ContainsFunc(u.Members, always)
	})
	slices.SortFunc(out, func(a, b *schema.Union) int {
		if a.ZeroOrOne != b.ZeroOrOne {
			return map[bool]int{true: 1, false: -1}[a.ZeroOrOne]
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// ElementUnions returns the unions that a schema makes of elements of its list, in the order of their first members,
// and the keys of each member. A member's field has the name by which errors call the element.
func ElementUnions(list *model.Type, name string, s *model.Schema) (schema.Unions, map[*model.Field][]model.KeyValue) {
	var out schema.Unions
	keys := map[*model.Field][]model.KeyValue{}
	for _, p := range s.Elements {
		if Selects(list.Elem.Pointee(), p.Keys) {
			element := &model.Field{JSON: selector(name, p.Keys)}
			keys[element] = p.Keys
			out.Add(element, slices.DeleteFunc(slices.Clone(p.Schema.Rules), func(r model.Rule) bool {
				return r.Check == model.UnionDiscriminator // which is a field's alone
			}))
		}
	}
	return out, keys
}

// selector returns validation-gen's name of an element: conditions[{"type": "Approved"}].
func selector(list string, keys []model.KeyValue) string {
	var terms []string
	for _, k := range keys {
		terms = append(terms, fmt.Sprintf("%q: %q", k.Key, k.Value))
	}
	return list + "[{" + strings.Join(terms, ", ") + "}]"
}

// Selects reports whether the keys of +k8s:item name fields of the elements.
func Selects(elem *model.Type, keys []model.KeyValue) bool {
	return len(keys) > 0 && !slices.ContainsFunc(keys, func(k model.KeyValue) bool {
		return KeyField(elem, k.Key, 0) == nil
	})
}

// KeyField returns the field of that JSON name, also one of an embedded struct.
func KeyField(t *model.Type, key string, depth int) *model.Field {
	if f := FieldByJSON(t, key); f != nil {
		if at := f.Type.Pointee(); at != nil && at.Form == model.Basic {
			return f
		}
		return nil
	}
	if t.Form != model.Struct || depth > 4 {
		return nil
	}
	for _, f := range t.Fields {
		if f.Inline && f.Type.Form == model.Struct {
			if inner := KeyField(f.Type, key, depth+1); inner != nil {
				return inner
			}
		}
	}
	return nil
}
