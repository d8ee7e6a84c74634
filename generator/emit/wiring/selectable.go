package wiring

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
)

// selectable prints the selectable fields of all versions, read from the hub, or nothing.
func (p *printer) selectable(r *model.Resource) jen.Code {
	var fields []jen.Code
	for _, s := range p.plan.Serving[r].Selectable {
		fields = append(fields, jen.Custom(braces, member("Path", jen.Lit(s.Path)),
			member("Value", hubGetter(r.Hub, s.Steps, jen.String(), jen.Lit(""), returnText))))
	}
	if fields == nil {
		return nil
	}
	return member("SelectableFields", jen.Index().Qual(apiPath, "SelectableField").Types(pointer(r.Hub)).Custom(braces,
		fields...))
}

// hubGetter prints the function that reads the value at the end of a path of the hub; absent is what it returns where
// there is none.
func hubGetter(hub *model.Type, steps []model.Step, result, absent *jen.Statement,
	done func(*jen.Group, operand)) jen.Code {
	return jen.Func().Params(jen.Id("obj").Add(pointer(hub))).Add(result).BlockFunc(func(g *jen.Group) {
		w := &walker{none: func() jen.Code { return jen.Return(absent.Clone()) }, done: done}
		w.walk(g, operand{expr: "obj", typ: hub}, steps)
	})
}

// returnText prints the statement that returns a value as field selectors compare it.
func returnText(g *jen.Group, found operand) {
	value := jen.Id(found.value())
	switch t := found.typ; {
	case model.IsBool(t):
		g.Return(jen.Qual("strconv", "FormatBool").Call(as("bool", t, value)))
	case model.IsInteger(t):
		g.Return(jen.Qual("strconv", "FormatInt").Call(as("int64", t, value), jen.Lit(10)))
	default:
		g.Return(as("string", t, value))
	}
}
