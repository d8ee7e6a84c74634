package validation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
)

// elementUnion is a set of elements of a list, identified by their keys: one of them is there, or at most one.
type elementUnion struct {
	name      string
	zeroOrOne bool
	members   []model.Part
}

// elementUnions are those that a schema makes of elements of its list, in the order of their first members.
func elementUnions(list *model.Type, s *model.Schema) []*elementUnion {
	var out []*elementUnion
	for _, p := range s.Elements {
		if pick(list.Elem.Pointee(), p.Keys) == nil {
			continue
		}
		for i := range p.Schema.Rules {
			r := &p.Schema.Rules[i]
			if r.Check != model.UnionMember && r.Check != model.ZeroOrOneOfMember {
				continue
			}
			zeroOrOne := r.Check == model.ZeroOrOneOfMember
			at := slices.IndexFunc(out, func(u *elementUnion) bool {
				return u.name == r.Text &&
					u.zeroOrOne == zeroOrOne
			})
			if at < 0 {
				at, out = len(out), append(out, &elementUnion{name: r.Text, zeroOrOne: zeroOrOne})
			}
			out[at].members = append(out[at].members, p)
		}
	}
	return out
}

// elementUnion checks which of a union's elements the list in v has.
func (w *writer) elementUnion(v value, u *elementUnion) jen.Code {
	var members, set []jen.Code
	for _, p := range u.members {
		members = append(members, w.file.Qual(validatePath, "NewUnionMember").Call(jen.Lit(selector(v.name, p.Keys))))
		set = append(set, w.hasElement(v.typ, p.Keys))
	}
	function := "Union"
	if u.zeroOrOne {
		function = "ZeroOrOneOfUnion"
	}
	name := w.declare(v.label+"Union", "are the elements of which one is there.", w.file.Qual(validatePath,
		"NewUnionMembership").Call(members...))
	args := append([]jen.Code{jen.Id("ctx"), jen.Id("op"), jen.Id(v.path), v.place.Value(), w.oldList(v),
		jen.Id(name)}, set...)
	return w.add(w.file.Qual(validatePath, function).Custom(jen.Options{Open: "(", Close: ")", Separator: ",",
		Multi: true}, args...))
}

// hasElement is the function that tells whether a list has an element of these keys.
func (w *writer) hasElement(list *model.Type, keys []model.KeyValue) jen.Code {
	item := jen.Id("item").Op(":=").Op("&").Id("list").Index(jen.Id("i"))
	condition := pick(list.Elem.Pointee(), keys)
	if list.Elem.Form == model.Pointer {
		item = jen.Id("item").Op(":=").Id("list").Index(jen.Id("i"))
		condition = jen.Id("item").Op("!=").Nil().Op("&&").Add(condition)
	}
	return jen.Func().Params(jen.Id("list").Add(w.file.Type(list))).Bool().Block(
		jen.For(jen.Id("i").Op(":=").Range().Id("list")).Block(
			jen.If(item, condition).Block(jen.Return(jen.True()))),
		jen.Return(jen.False()))
}

// selector names an element as validation-gen does: conditions[{"type": "Approved"}].
func selector(list string, keys []model.KeyValue) string {
	var terms []string
	for _, k := range keys {
		terms = append(terms, fmt.Sprintf("%q: %q", k.Key, k.Value))
	}
	return list + "[{" + strings.Join(terms, ", ") + "}]"
}
