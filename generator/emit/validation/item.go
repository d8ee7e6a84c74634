package validation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
	"apigen.dev/generator/schema"
)

// elementUnions returns the unions that a schema makes of elements of its list, in the order of their first members,
// and the keys of each member. A member's field has the name by which errors call the element.
func elementUnions(v value, s *model.Schema) (schema.Unions, map[*model.Field][]model.KeyValue) {
	var out schema.Unions
	keys := map[*model.Field][]model.KeyValue{}
	for _, p := range s.Elements {
		if selects(v.typ.Elem.Pointee(), p.Keys) != nil {
			element := &model.Field{JSON: selector(v.name, p.Keys)}
			keys[element] = p.Keys
			out.Add(element, slices.DeleteFunc(slices.Clone(p.Schema.Rules), func(r model.Rule) bool {
				return r.Check == model.UnionDiscriminator // which is a field's alone
			}))
		}
	}
	return out, keys
}

// elementUnions checks which of the elements that unions name the list in v has.
func (w *writer) elementUnions(v value, s *model.Schema) []jen.Code {
	var code []jen.Code
	unions, keys := elementUnions(v, s)
	for _, u := range unions {
		code = append(code, w.union(v, u, v.place.Value(), w.oldList(v), func(element *model.Field) jen.Code {
			return w.hasElement(v.typ, keys[element])
		}))
	}
	return code
}

// hasElement returns the function that reports whether a list has an element with these keys.
func (w *writer) hasElement(list *model.Type, keys []model.KeyValue) jen.Code {
	item := jen.Id("item").Op(":=").Op("&").Id("list").Index(jen.Id("i"))
	condition := selects(list.Elem.Pointee(), keys)
	if list.Elem.Form == model.Pointer {
		item = jen.Id("item").Op(":=").Id("list").Index(jen.Id("i"))
		condition = jen.Id("item").Op("!=").Nil().Op("&&").Add(condition)
	}
	return jen.Func().Params(jen.Id("list").Add(w.file.Type(list))).Bool().Block(
		jen.For(jen.Id("i").Op(":=").Range().Id("list")).Block(
			jen.If(item, condition).Block(jen.Return(jen.True()))),
		jen.Return(jen.False()))
}

// selector returns validation-gen's name of an element: conditions[{"type": "Approved"}].
func selector(list string, keys []model.KeyValue) string {
	var terms []string
	for _, k := range keys {
		terms = append(terms, fmt.Sprintf("%q: %q", k.Key, k.Value))
	}
	return list + "[{" + strings.Join(terms, ", ") + "}]"
}
