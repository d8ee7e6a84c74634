package wiring

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
	"apigen.dev/generator/plan/serving"
)

// columns prints the descriptions of a version's columns and the functions of their cells; both nil where it has none.
//
// A cell shows what kubectl shows for a custom resource: text as it is, other values in a text column as their JSON, a
// date as an age. It is empty where a value on the way is absent or doesn't fit the column's type. It shows a zero
// value, with omitempty too: the Go type knows no difference.
func (p *printer) columns(t *model.Type) (columns, cells jen.Code) {
	var infos, funcs []jen.Code
	for _, c := range p.plan.Columns[t] {
		infos = append(infos, columnInfo(c.Column))
		funcs = append(funcs, p.cell(t, c))
	}
	if infos == nil {
		return nil, nil
	}
	cell := jen.Func().Params(pointer(t)).Qual(apiPath, "Cell")
	return jen.Index().Qual(apiPath, "Column").Custom(braces, infos...), jen.Index().Add(cell).Custom(braces, funcs...)
}

func columnInfo(c model.Column) jen.Code {
	members := []jen.Code{member("Name", jen.Lit(c.Name)), member("Type", jen.Lit(c.Type))}
	if c.Format != "" {
		members = append(members, member("Format", jen.Lit(c.Format)))
	}
	if c.Description != "" {
		members = append(members, member("Description", jen.Lit(c.Description)))
	}
	if c.Priority != 0 {
		members = append(members, member("Priority", jen.Lit(int(c.Priority))))
	}
	return jen.Values(members...)
}

func noCell() jen.Code { return jen.Return(jen.Qual(apiPath, "Cell").Values()) }

// cell prints the function that makes a column's cell.
func (p *printer) cell(t *model.Type, c serving.Column) jen.Code {
	return jen.Func().Params(jen.Id("in").Add(pointer(t))).Qual(apiPath, "Cell").BlockFunc(func(g *jen.Group) {
		start := operand{expr: "in", typ: c.Start}
		switch {
		case c.Start == nil || c.Method == "" && c.Steps == nil:
			g.Add(noCell())
			return
		case c.Function != nil:
			g.Id("result").Op(":=").Qual(c.Function.Package.Path, c.Function.Name).Call(jen.Id("in"))
			start.expr = "result"
		case c.Method != "":
			start.expr = "in." + c.Method + "()"
			if c.Start.Form == model.Pointer {
				g.Id("result").Op(":=").Id(start.expr)
				start.expr = "result"
			}
		}
		w := &walker{none: noCell, done: func(g *jen.Group, found operand) { p.finish(g, c, found) }}
		w.walk(g, start, c.Steps)
	})
}

// finish prints the statements that return the cell of a value. A text that JSON leaves out has none, as for a custom
// resource, whose columns look at JSON; of numbers and booleans, zero is worth showing.
func (p *printer) finish(g *jen.Group, c serving.Column, found operand) {
	if found.omitted && model.IsString(found.typ) {
		g.If(jen.Id(found.value()).Op("==").Lit("")).Block(noCell())
	}
	cell := func(name string, value jen.Code) { g.Return(jen.Qual(apiPath, name).Call(value)) }
	t, value := found.typ, jen.Id(found.value())
	switch c.Cell {
	case serving.AgeCell:
		g.If(jen.Id(found.expr).Dot("IsZero").Call()).Block(noCell())
		if !model.IsNamed(t, "time", "Time") {
			value = jen.Id(found.expr).Dot("Time")
		}
		cell("Age", value)
	case serving.DateCell:
		p.dated = true
		g.Return(jen.Id("dateCell").Call(as("string", t, value)))
	case serving.IntegerCell:
		cell("Int", as("int64", t, value))
	case serving.NumberCell:
		cell("Number", as("float64", t, value))
	case serving.BooleanCell:
		cell("Bool", as("bool", t, value))
	case serving.TextCell:
		cell("Text", as("string", t, value))
	case serving.JSONCell:
		p.textual = true
		g.Return(jen.Id("jsonCell").Call(value))
	default:
		g.Add(noCell())
	}
}

// as converts a value to a predeclared type, where it isn't of that type.
func as(name string, t *model.Type, value *jen.Statement) jen.Code {
	if t.Package == nil && t.Basic == name {
		return value
	}
	return jen.Id(name).Call(value)
}
