package wiring

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
)

func (p *printer) scale(r *model.Resource) jen.Code {
	s := p.plan.OfResource(r).Serving.Scale
	number := func(steps []model.Step) jen.Code { return hubGetter(r.Hub, steps, "int32", "0", returnInt32) }
	var status, selector jen.Code
	if s.Status != nil {
		status = member("StatusReplicas", number(s.Status))
	}
	if s.Selector != nil {
		selector = member("Selector", hubGetter(r.Hub, s.Selector, "string", `""`, p.returnSelector))
	}
	var paths []jen.Code
	for _, path := range s.Paths {
		elements := fmt.Sprintf("%#v", path.Elements)
		paths = append(paths, gocode.Code("$: "+strings.TrimPrefix(elements, "[]string"), jen.Lit(path.Version)))
	}
	return extension("Scale", []jen.Code{pointer(r.Hub)},
		member("Replicas", number(s.Spec)),
		member("SetReplicas", gocode.Code("func(obj $, replicas int32) {\n$\n}", pointer(r.Hub),
			new(setter).set("obj", r.Hub, s.Spec))),
		status,
		selector,
		optional("SpecPath", s.SpecPath),
		optional("StatusPath", s.StatusPath),
		member("Paths", gocode.Code("map[string][]string$", jen.Values(paths...))))
}

func returnInt32(found operand) jen.Code {
	if found.typ.Basic == "int64" || found.typ.Basic == "int" {
		return gocode.Code("return int32(min(" + found.value() + ", math.MaxInt32))")
	}
	return gocode.Code("return " + as("int32", found.typ, found.value()))
}

func (p *printer) returnSelector(found operand) jen.Code {
	switch {
	case model.IsString(found.typ):
		return gocode.Code("return " + as("string", found.typ, found.value()))
	case model.IsLabels(found.typ):
		set := found.value()
		if found.typ.Package != nil {
			set = "labels.Set(" + set + ")"
		}
		return gocode.Code("return labels.SelectorFromSet(" + set + ").String()")
	}
	p.selecting = true
	return gocode.Code("return selectorText(" + when(!found.pointer, "&") + found.expr + ")")
}

// setter prints the statements that set the number of replicas, and that make values which are absent on the way.
type setter struct{ entries int }

// set returns those for the steps that are left of a place, which is not nil if it is the object.
func (s *setter) set(place string, t *model.Type, steps []model.Step) jen.Code {
	if len(steps) == 0 {
		value, pre := replicasAs(t)
		return gocode.Code("$"+place+" = "+value, pre)
	}
	made := jen.Null()
	if t.Form == model.Pointer {
		t = t.Elem
		made = ifNil(place, gocode.Code("new($)", typeCode(t)))
		if t.Form == model.Map {
			place = "(*" + place + ")"
		}
	}
	step, rest := steps[0], steps[1:]
	if step.Field != nil {
		return gocode.Code("$$", made, s.set(place+"."+step.Field.Name, step.Field.Type, rest))
	}
	made = gocode.Code("$$", made, ifNil(place, gocode.Code("make($)", typeCode(t))))
	at := fmt.Sprintf("%s[%#v]", place, step.Key)
	if len(rest) == 0 {
		return gocode.Code("$$", made, s.set(at, t.Elem, rest))
	}
	s.entries++
	entry := "entry"
	if s.entries > 1 {
		entry += strconv.Itoa(s.entries)
	}
	return gocode.Code("$"+entry+" := "+at+"\n$\n"+at+" = "+entry, made, s.set(entry, t.Elem, rest))
}

func ifNil(place string, value jen.Code) *jen.Statement {
	return gocode.Code("if "+place+" == nil {\n"+place+" = $\n}\n", value)
}

// replicasAs is the variable replicas as a value of a type, and the statement that declares a variable of that type
// before it is used.
func replicasAs(t *model.Type) (value string, declaration jen.Code) {
	value = "replicas"
	switch end := t.Pointee(); {
	case end.Package != nil:
		value, declaration = "value", gocode.Code("value := $(replicas)\n", name(end))
	case end.Basic != "int32" && end.Basic != "rune":
		value, declaration = "value", gocode.Code("value := "+end.Basic+"(replicas)\n")
	}
	return when(t.Form == model.Pointer, "&") + value, declaration
}

// typeCode is a type as Go writes it, of those that lie on the way to a number of replicas.
func typeCode(t *model.Type) *jen.Statement {
	switch {
	case t.Package != nil:
		return jen.Qual(t.Package.Path, t.Name)
	case t.Form == model.Pointer:
		return jen.Op("*").Add(typeCode(t.Elem))
	case t.Form == model.Map:
		return jen.Map(typeCode(t.Key)).Add(typeCode(t.Elem))
	default:
		return jen.Id(model.TypeText(t))
	}
}
