package wiring

import (
	"fmt"
	"strconv"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
)

// operand is a Go expression and its type. Where Pointer is set, the expression is a pointer to a value of the type
// that is known not to be nil. Where omitted is set, JSON leaves the value out if it is zero.
type operand struct {
	expr    string
	typ     *model.Type
	pointer bool
	omitted bool
}

func (o operand) value() string {
	if o.pointer {
		return "*" + o.expr
	}
	return o.expr
}

// walker prints statements that lead from an object along a path of the plan.
type walker struct {
	// none is the statement that returns where a value on the way is absent.
	none string
	// done returns the statements that return the value at the end.
	done func(found operand) jen.Code
	vars map[string]int // how often a name was given
}

func (w *walker) walk(at operand, steps []model.Step) jen.Code {
	if at.typ.Form == model.Pointer {
		pointee := operand{expr: at.expr, typ: at.typ.Elem, pointer: true}
		return w.unless(at.expr+" == nil", w.walk(pointee, steps))
	}
	if len(steps) == 0 {
		return w.done(at)
	}
	step, rest := steps[0], steps[1:]
	switch {
	case step.Filter != nil:
		return w.filter(at, step.Filter, rest)
	case step.Field != nil:
		expr := at.expr + "." + step.Field.Name
		if promotes(at.typ, step.Field, rest) {
			expr = at.expr // obj.CreationTimestamp, as people write it
		}
		return w.walk(operand{expr: expr, typ: step.Field.Type, omitted: step.Field.OmitEmpty}, rest)
	case step.IsIndex:
		element := operand{expr: at.indexable() + "[" + indexOf(at.value(), step.Index) + "]", typ: at.typ.Elem}
		return w.unless(tooShort(at.value(), step.Index), w.walk(element, rest))
	}
	name := w.variable("value")
	return gocode.Code(name+", ok := "+at.indexable()+"[$]\n$", jen.Lit(step.Key),
		w.unless("!ok", w.walk(operand{expr: name, typ: at.typ.Elem}, rest)))
}

// unless returns statements behind one that returns early where a condition holds.
func (w *walker) unless(condition string, rest jen.Code) jen.Code {
	return gocode.Code("if "+condition+" {\n"+w.none+"\n}\n$", rest)
}

// promotes reports whether the field which follows an embedded struct can be selected without naming that struct:
// nothing else in outer bears its name.
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

// declares reports whether a struct has a field of that name, or might have one in what it embeds.
func declares(t *model.Type, name string) bool {
	for _, f := range t.Fields {
		if f.Name == name || f.Embedded {
			return true
		}
	}
	return false
}

// tooShort is the condition that a list has no element at the index, which counts from the end if it is negative.
func tooShort(list string, index int) string {
	if index < 0 {
		index = -index - 1
	}
	if index == 0 {
		return "len(" + list + ") == 0"
	}
	return fmt.Sprintf("len(%s) <= %d", list, index)
}

func indexOf(list string, index int) string {
	if index < 0 {
		return fmt.Sprintf("len(%s)-%d", list, -index)
	}
	return strconv.Itoa(index)
}

// filter returns a loop to the first element that satisfies the filter.
func (w *walker) filter(at operand, filter *model.Filter, rest []model.Step) jen.Code {
	index, item := w.variable("i"), w.variable("item")
	element := operand{expr: item, typ: at.typ.Elem, pointer: true}
	address, condition := "&", ""
	if at.typ.Elem.Form == model.Pointer {
		element.typ = at.typ.Elem.Elem
		address, condition = "", item+" != nil && "
	}
	return gocode.Code("for "+index+" := range "+at.value()+" {\n"+
		item+" := "+address+at.indexable()+"["+index+"]\n"+
		"if "+condition+filterTest(element, filter)+" {\n$\n}\n}\n"+w.none, w.walk(element, rest))
}

func filterTest(element operand, filter *model.Filter) string {
	test, expr, typ := "", element.expr, element.typ
	for _, step := range filter.Steps {
		expr, typ = expr+"."+step.Field.Name, step.Field.Type
		if typ.Form == model.Pointer {
			test += expr + " != nil && "
		}
	}
	if typ.Form == model.Pointer {
		expr = "*" + expr
	}
	return fmt.Sprintf("%s%s == %#v", test, expr, filter.Value)
}

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
