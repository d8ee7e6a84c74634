package wiring

import (
	"go/token"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

// columns prints the descriptions of a version's columns and the functions of their cells; both nil where it has none.
//
// A cell shows what kubectl shows for a custom resource: text as it is, other values in a text column as their JSON, a
// date as an age, and nothing where something on the way is absent or the value doesn't fit the column's type. A zero
// value is shown as such, with omitempty too: the Go type knows no difference.
func (p *printer) columns(t *model.Type) (columns, cells jen.Code) {
	if t.Kind == nil || len(t.Kind.Columns) == 0 {
		return nil, nil
	}
	var infos, funcs []jen.Code
	for _, c := range t.Kind.Columns {
		infos = append(infos, columnInfo(c))
		funcs = append(funcs, p.cell(t, c))
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

// cell prints the function that makes a column's cell.
func (p *printer) cell(t *model.Type, c model.Column) jen.Code {
	noCell := func() jen.Code { return jen.Return(jen.Qual(apiPath, "Cell").Values()) }
	var fault error
	body := func(g *jen.Group) {
		w := &walker{none: noCell, done: func(g *jen.Group, found operand) error { p.finish(g, c, found); return nil }}
		start := operand{expr: "in", typ: t}
		if m := columnFunction(t, c); m != nil {
			g.Id("result").Op(":=").Qual(m.Package.Path, m.Name).Call(jen.Id("in"))
			start = operand{expr: "result", typ: m.Results[0]}
		} else if c.Method != "" {
			start, fault = p.methodOperand(t, c)
			if fault == nil && start.typ.Form == model.Pointer {
				g.Id("result").Op(":=").Id(start.expr)
				start.expr = "result"
			}
		}
		if c.Method == "" && c.Steps == nil {
			g.Add(noCell())
			return
		}
		if fault == nil {
			fault = w.walk(g, start, c.Steps)
		}
	}
	code := jen.Func().Params(jen.Id("in").Add(pointer(t))).Qual(apiPath, "Cell").BlockFunc(body)
	if fault != nil {
		p.errs.Add(c.Pos, "column %q: %s", c.Name, fault)
	}
	return code
}

// methodOperand is the call of a column's method.
func (p *printer) methodOperand(t *model.Type, c model.Column) (operand, error) {
	m := t.Methods[c.Method]
	if m == nil && t.Package.ServedBy != nil {
		return operand{typ: t}, faultf("package %s has no function %s_%s that fits: write `func %s_%s(obj *%s) string`",
			t.Package.ServedBy.Path, c.Method, t.Name, c.Method, t.Name, plan.TypeText(t))
	}
	if m == nil {
		return operand{typ: t}, faultf("%s has no method %s: write `func (in *%s) %s() string`", t.Name, c.Method, t.Name, c.Method)
	}
	if !token.IsExported(c.Method) && t.Package.ServedBy == nil {
		return operand{typ: t}, faultf("method %s is not exported, and is called from another package: call it %s",
			c.Method, strings.ToUpper(c.Method[:1])+c.Method[1:])
	}
	if len(m.Params) != 0 || len(m.Results) != 1 {
		return operand{typ: t}, faultf("method %s must take nothing and return one value, as `func (in *%s) %s() string` does", c.Method, t.Name, c.Method)
	}
	return operand{expr: "in." + c.Method + "()", typ: m.Results[0]}, nil
}

// finish prints the statements that return the cell of a value. A text that JSON leaves out has none, as for a custom
// resource, whose columns look at JSON; of numbers and truths, zero is worth showing.
func (p *printer) finish(g *jen.Group, c model.Column, found operand) {
	if found.omitted && isString(found.typ) {
		g.If(jen.Id(found.value()).Op("==").Lit("")).Block(jen.Return(jen.Qual(apiPath, "Cell").Values()))
	}
	cell := func(name string, value jen.Code) { g.Return(jen.Qual(apiPath, name).Call(value)) }
	t, value := found.typ, jen.Id(found.value())
	switch {
	case c.Type == "date" && isTime(t):
		g.If(jen.Id(found.expr).Dot("IsZero").Call()).Block(jen.Return(jen.Qual(apiPath, "Cell").Values()))
		if !plan.IsNamed(t, "time", "Time") {
			value = jen.Id(found.expr).Dot("Time")
		}
		cell("Age", value)
	case c.Type == "date" && isString(t):
		p.dated = true
		g.Return(jen.Id("dateCell").Call(as("string", t, value)))
	case c.Type == "integer" && (isInteger(t) || isFloat(t)):
		cell("Int", as("int64", t, value))
	case c.Type == "number" && (isInteger(t) || isFloat(t)):
		cell("Number", as("float64", t, value))
	case c.Type == "boolean" && isBool(t):
		cell("Bool", as("bool", t, value))
	case c.Type == "string" && isString(t):
		cell("Text", as("string", t, value))
	case c.Type == "string":
		p.textual = true
		g.Return(jen.Id("jsonCell").Call(value))
	default:
		g.Return(jen.Qual(apiPath, "Cell").Values())
	}
}

// fits tells whether a column of the type shows anything of a value.
func fits(column string, t *model.Type) bool {
	switch column {
	case "string":
		return true
	case "date":
		return isTime(t) || isString(t)
	case "integer", "number":
		return isInteger(t) || isFloat(t)
	case "boolean":
		return isBool(t)
	}
	return false
}

// as converts a value to a predeclared type, where it isn't of that type.
func as(name string, t *model.Type, value *jen.Statement) jen.Code {
	if t.Package == nil && t.Basic == name {
		return value
	}
	return jen.Id(name).Call(value)
}

func isTime(t *model.Type) bool {
	return plan.IsNamed(t, "k8s.io/apimachinery/pkg/apis/meta/v1", "Time", "MicroTime") ||
		plan.IsNamed(t, "time", "Time")
}

func isInteger(t *model.Type) bool {
	return t.Form == model.Basic && (strings.HasPrefix(t.Basic, "int") || strings.HasPrefix(t.Basic, "uint") ||
		t.Basic == "byte" || t.Basic == "rune")
}

func isFloat(t *model.Type) bool { return t.Form == model.Basic && strings.HasPrefix(t.Basic, "float") }

func isBool(t *model.Type) bool { return t.Form == model.Basic && t.Basic == "bool" }
