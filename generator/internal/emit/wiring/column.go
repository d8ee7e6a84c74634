package wiring

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan/serving"
)

// columns prints the descriptions of a version's columns and the functions of their cells; both nil if it has none.
//
// A cell shows what kubectl shows for a custom resource: text as it is, other values in a text column as their JSON, a
// date as an age. It is empty if a value on the way is absent or doesn't fit the column's type. It shows a zero
// value, with omitempty too: the Go type knows no difference.
func (p *printer) columns(v model.ResourceVersion) (columns, cells jen.Code) {
	var infos, funcs []jen.Code
	t := v.Type
	for _, c := range p.plan.OfType(t).Columns {
		infos = append(infos, columnInfo(c.Column))
		funcs = append(funcs, p.cell(v, c))
	}
	if infos == nil {
		return nil, nil
	}
	return literal(gocode.Code("[]api.Column"), infos...),
		literal(gocode.Code("[]func($) api.Cell", pointer(t)), funcs...)
}

func columnInfo(c model.Column) jen.Code {
	return jen.Values(textMember("Name", c.Name), textMember("Type", c.Type), optional("Format", c.Format),
		optional("Description", c.Description), when(c.Priority != 0, member("Priority", jen.Lit(int(c.Priority)))))
}

const noCell = "return api.Cell{}"

func (p *printer) cell(v model.ResourceVersion, c serving.Column) jen.Code {
	if c.Hub == nil {
		return gocode.Code("func(in $) api.Cell {\n$\n}", pointer(v.Type), p.cellBody("in", c))
	}
	f := p.converter(v.Type, c.Hub)
	return gocode.Code("func(in $) api.Cell {\nhub := new($)\nif $(in, hub, $) != nil {\n"+noCell+"\n}\n$\n}",
		pointer(v.Type), name(c.Hub), jen.Qual(f.Path, f.Name), gocode.Scope(p.scoped), p.cellBody("hub", c))
}

// cellBody prints the statements that return the cell of an object.
func (p *printer) cellBody(object string, c serving.Column) jen.Code {
	if c.Cell == serving.AgedTextCell {
		return agedText(object, c.Call)
	}
	if c.Start == nil || c.Call == nil && c.Steps == nil {
		return gocode.Code(noCell)
	}
	result, start := jen.Code(jen.Null()), operand{expr: object, typ: c.Start}
	if c.Call != nil {
		result, start = called(c.Call, object)
	}
	w := &walker{none: noCell, done: func(found operand) jen.Code { return p.finish(c, found) }}
	return gocode.Code("$$", result, w.walk(start, c.Steps))
}

// agedText prints the statements that return a cell of text with an age in it, or of the text alone.
func agedText(object string, c *serving.Call) jen.Code {
	call, since := gocode.Code(object+"."+c.Method+"()"), "since.Time"
	if c.Function != nil {
		call = gocode.Code("$("+object+")", jen.Qual(c.Function.Package.Path, c.Function.Name))
	}
	if model.IsNamed(c.Since, "time", "Time") {
		since = "*since"
	}
	return gocode.Code("before, since, after := $\nif since == nil {\nreturn api.Text(before + after)\n}\n"+
		"return api.AgeWithin(before, "+since+", after)", call)
}

// called prints the statement that keeps what a call on an object returns, where the operand needs a variable.
func called(c *serving.Call, object string) (result jen.Code, value operand) {
	switch {
	case c.Function != nil:
		function := jen.Qual(c.Function.Package.Path, c.Function.Name)
		return gocode.Code("result := $("+object+")\n", function), operand{expr: "result", typ: c.Result}
	case c.Result.Form == model.Pointer:
		return gocode.Code("result := " + object + "." + c.Method + "()\n"), operand{expr: "result", typ: c.Result}
	}
	return jen.Null(), operand{expr: object + "." + c.Method + "()", typ: c.Result}
}

// finish prints the statements that return the cell of a value. A text that JSON leaves out has none, as for a custom
// resource, whose columns look at JSON; of numbers and booleans, zero is worth showing.
func (p *printer) finish(c serving.Column, found operand) jen.Code {
	t, value := found.typ, found.value()
	var absent string
	if found.omitted && model.IsString(t) {
		absent = "if " + value + " == \"\" {\n" + noCell + "\n}\n"
	}
	switch c.Cell {
	case serving.AgeCell:
		absent += "if " + found.expr + ".IsZero() {\n" + noCell + "\n}\n"
		if !model.IsNamed(t, "time", "Time") {
			value = found.expr + ".Time"
		}
		return gocode.Code(absent + "return api.Age(" + value + ")")
	case serving.DateCell:
		p.dated = true
		return gocode.Code(absent + "return dateCell(" + as("string", t, value) + ")")
	case serving.JSONCell:
		p.textual = true
		return gocode.Code(absent + "return jsonCell(" + value + ")")
	}
	if f, ok := cells[c.Cell]; ok {
		return gocode.Code(absent + "return api." + f.name + "(" + as(f.takes, t, value) + ")")
	}
	return gocode.Code(absent + noCell)
}

// cells are the functions of package api that make cells of values of a predeclared type.
var cells = map[serving.Cell]struct{ name, takes string }{
	serving.IntegerCell: {"Int", "int64"}, serving.NumberCell: {"Number", "float64"},
	serving.BooleanCell: {"Bool", "bool"}, serving.TextCell: {"Text", "string"},
}

// as converts a value to a predeclared type, if it isn't of that type.
func as(name string, t *model.Type, value string) string {
	if t.Package == nil && t.Basic == name {
		return value
	}
	return name + "(" + value + ")"
}

// selectable prints the selectable fields of all versions, read from the hub or those of another group, or nothing.
func (p *printer) selectable(r *model.Resource) jen.Code {
	var fields []jen.Code
	for _, s := range p.plan.OfResource(r).Serving.Selectable {
		if s.Of != "" {
			fields = append(fields, jen.Values(textMember("Path", s.Name), textMember("Of", s.Of),
				when(s.Versions != nil, member("Versions", texts(s.Versions)))))
			continue
		}
		value := hubGetter(r.Hub, s.Steps, "string", `""`, returnText)
		if s.Call != nil {
			result, found := called(s.Call, "obj")
			w := &walker{none: `return ""`, done: returnText}
			value = gocode.Code("func(obj $) string {\n$$\n}", pointer(r.Hub), result, w.walk(found, nil))
		}
		fields = append(fields, literal(nil, textMember("Path", s.Name),
			when(s.Versions != nil, member("Versions", texts(s.Versions))),
			member("Value", value)))
	}
	return list("SelectableFields", gocode.Code("[]api.SelectableField[$]", pointer(r.Hub)), fields)
}

// hubGetter prints the function that reads the value at the end of a path of the hub; absent is what it returns where
// there is none.
func hubGetter(hub *model.Type, steps []model.Step, result, absent string, done func(operand) jen.Code) jen.Code {
	w := &walker{none: "return " + absent, done: done}
	return gocode.Code("func(obj $) "+result+" {\n$\n}", pointer(hub), w.walk(operand{expr: "obj", typ: hub}, steps))
}

// returnText prints the statement that returns a value as field selectors compare it.
func returnText(found operand) jen.Code {
	switch t, value := found.typ, found.value(); {
	case model.IsBool(t):
		return gocode.Code("return strconv.FormatBool(" + as("bool", t, value) + ")")
	case model.IsInteger(t):
		return gocode.Code("return strconv.FormatInt(" + as("int64", t, value) + ", 10)")
	case serving.IsText(t):
		return gocode.Code("return api.TextOf(" + found.expr + ")")
	default:
		return gocode.Code("return " + as("string", t, value))
	}
}
