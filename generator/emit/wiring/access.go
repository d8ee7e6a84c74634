package wiring

import (
	"fmt"
	"strconv"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
)

// operand is a Go expression and its type. Where Pointer is set, the expression is a pointer to a value of the type
// that is known not to be nil. Where omitted is set, JSON leaves the value out where it is zero.
type operand struct {
	expr    string
	typ     *model.Type
	pointer bool
	omitted bool
}

// value is the expression of the value itself.
func (o operand) value() string {
	if o.pointer {
		return "*" + o.expr
	}
	return o.expr
}

// walker prints statements that lead from an object along a path of the plan, and return none where a value on the way
// is absent.
type walker struct {
	// none is the statement that returns for an absent value.
	none func() jen.Code
	// done prints the statement that returns for the value found.
	done func(g *jen.Group, found operand)
	vars map[string]int // how often a name was given
}

// walk prints the statements for the steps that are left.
func (w *walker) walk(g *jen.Group, at operand, steps []model.Step) {
	if at.typ.Form == model.Pointer {
		g.If(jen.Id(at.expr).Op("==").Nil()).Block(w.none())
		at = operand{expr: at.expr, typ: at.typ.Elem, pointer: true}
	}
	if len(steps) == 0 {
		w.done(g, at)
		return
	}
	step, rest := steps[0], steps[1:]
	switch {
	case step.Filter != nil:
		w.filter(g, at, step.Filter, rest)
	case step.Field != nil:
		expr := at.expr + "." + step.Field.Name
		if promotes(at.typ, step.Field, rest) {
			expr = at.expr // obj.CreationTimestamp, as people write it
		}
		w.walk(g, operand{expr: expr, typ: step.Field.Type, omitted: step.Field.OmitEmpty}, rest)
	case step.IsIndex:
		g.If(tooShort(at.value(), step.Index)).Block(w.none())
		w.walk(g, operand{expr: at.indexable() + "[" + indexOf(at.value(), step.Index) + "]", typ: at.typ.Elem}, rest)
	default:
		name := w.variable("value")
		g.List(jen.Id(name), jen.Id("ok")).Op(":=").Id(at.indexable()).Index(jen.Lit(step.Key))
		g.If(jen.Op("!").Id("ok")).Block(w.none())
		w.walk(g, operand{expr: name, typ: at.typ.Elem}, rest)
	}
}

// promotes tells that the field which follows an embedded struct can be selected without naming that struct: nothing
// else in outer bears its name.
func promotes(outer *model.Type, embedded *model.Field, rest []model.Step) bool {
	if !embedded.Embedded || embedded.Type.Form != model.Struct || len(rest) == 0 || rest[0].Field == nil ||
		outer.Form != model.Struct {
		return false
	}
	name := rest[0].Field.Name
	for _, f := range outer.Fields {
		if f.Name == name {
			return false
		}
		if f == embedded || !f.Embedded {
			continue
		}
		if f.Type.Form != model.Struct || declares(f.Type, name) {
			return false // another one has it, or might: then the name alone says too little
		}
	}
	return outer.Methods[name] == nil
}

// declares tells whether a struct has a field of that name, or might have one in what it embeds.
func declares(t *model.Type, name string) bool {
	for _, f := range t.Fields {
		if f.Name == name || f.Embedded {
			return true
		}
	}
	return false
}

// tooShort is the condition that a list has no element at the index, which counts from the end where it is negative.
func tooShort(list string, index int) jen.Code {
	if index < 0 {
		index = -index - 1
	}
	if index == 0 {
		return jen.Len(jen.Id(list)).Op("==").Lit(0)
	}
	return jen.Len(jen.Id(list)).Op("<=").Lit(index)
}

func indexOf(list string, index int) string {
	if index < 0 {
		return fmt.Sprintf("len(%s)-%d", list, -index)
	}
	return strconv.Itoa(index)
}

// filter prints a loop to the first element that satisfies the filter.
func (w *walker) filter(g *jen.Group, at operand, filter *model.Filter, rest []model.Step) {
	index, item := w.variable("i"), w.variable("item")
	element := operand{expr: item, typ: at.typ.Elem, pointer: true}
	address := jen.Op("&").Id(at.indexable()).Index(jen.Id(index))
	condition := jen.Null()
	if at.typ.Elem.Form == model.Pointer {
		element.typ = at.typ.Elem.Elem
		address = jen.Id(at.indexable()).Index(jen.Id(index))
		condition = jen.Id(item).Op("!=").Nil().Op("&&")
	}
	g.For(jen.Id(index).Op(":=").Range().Id(at.value())).BlockFunc(func(g *jen.Group) {
		g.Id(item).Op(":=").Add(address)
		g.If(condition.Add(filterTest(element, filter))).BlockFunc(func(g *jen.Group) { w.walk(g, element, rest) })
	})
	g.Add(w.none())
}

// filterTest is the condition that an element satisfies a filter.
func filterTest(element operand, filter *model.Filter) *jen.Statement {
	test := jen.Null()
	expr, typ := element.expr, element.typ
	for _, step := range filter.Steps {
		expr, typ = expr+"."+step.Field.Name, step.Field.Type
		if typ.Form == model.Pointer {
			test.Id(expr).Op("!=").Nil().Op("&&")
		}
	}
	if typ.Form == model.Pointer {
		expr = "*" + expr
	}
	return test.Id(expr).Op("==").Lit(filter.Value)
}

// indexable is the expression that can be indexed.
func (o operand) indexable() string {
	if o.pointer {
		return "(*" + o.expr + ")"
	}
	return o.expr
}

// variable returns a name that is not yet taken in the function.
func (w *walker) variable(name string) string {
	if w.vars == nil {
		w.vars = map[string]int{}
	}
	w.vars[name]++
	if w.vars[name] == 1 {
		return name
	}
	return fmt.Sprintf("%s%d", name, w.vars[name])
}
