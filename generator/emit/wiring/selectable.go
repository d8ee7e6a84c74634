package wiring

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
)

// selectable prints the selectable fields of all versions, read from the hub, or nothing.
func (p *printer) selectable(r *model.Resource) jen.Code {
	var fields []jen.Code
	for _, s := range p.plan.Serving[r].Selectable {
		fields = append(fields, literal(nil, textMember("Path", s.Path),
			member("Value", hubGetter(r.Hub, s.Steps, "string", `""`, returnText))))
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
	default:
		return gocode.Code("return " + as("string", t, value))
	}
}
