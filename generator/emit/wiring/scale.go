package wiring

import (
	"strconv"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
)

// scale prints the subresource scale.
func (p *printer) scale(r *model.Resource) jen.Code {
	s := p.plan.Serving[r].Scale
	if s == nil {
		return jen.Null() // the plan has the fault
	}
	number := func(steps []model.Step) jen.Code {
		return hubGetter(r.Hub, steps, jen.Int32(), jen.Lit(0), returnInt32)
	}
	var status, selector jen.Code
	if s.Status != nil {
		status = member("StatusReplicas", number(s.Status))
	}
	if s.Selector != nil {
		selector = member("Selector", hubGetter(r.Hub, s.Selector, jen.String(), jen.Lit(""), p.returnSelector))
	}
	var paths []jen.Code
	for _, path := range s.Paths {
		paths = append(paths, jen.Lit(path.Version).Op(":").Values(literals(path.Elements)...))
	}
	return extension("Scale", []jen.Code{pointer(r.Hub)},
		member("Replicas", number(s.Spec)),
		member("SetReplicas", scaleSetter(r.Hub, s.Spec)),
		status,
		selector,
		member("Paths", jen.Map(jen.String()).Index().String().Values(paths...)))
}

// returnInt32 prints the statement that returns a number of replicas.
func returnInt32(g *jen.Group, found operand) {
	value := jen.Id(found.value())
	if found.typ.Basic == "int64" || found.typ.Basic == "int" {
		g.Return(jen.Int32().Call(jen.Id("min").Call(value, jen.Qual("math", "MaxInt32"))))
		return
	}
	g.Return(as("int32", found.typ, value))
}

// returnSelector prints the statement that returns a selector as text.
func (p *printer) returnSelector(g *jen.Group, found operand) {
	if model.IsString(found.typ) {
		g.Return(as("string", found.typ, jen.Id(found.value())))
		return
	}
	p.selecting = true
	expr := "&" + found.expr
	if found.pointer {
		expr = found.expr
	}
	g.Return(jen.Id("selectorText").Call(jen.Id(expr)))
}

// scaleSetter prints the function that sets the number of replicas. It makes what is absent on the way.
func scaleSetter(hub *model.Type, steps []model.Step) jen.Code {
	return jen.Func().Params(jen.Id("obj").Add(pointer(hub)), jen.Id("replicas").Int32()).
		BlockFunc(func(g *jen.Group) { new(setter).set(g, jen.Id("obj"), hub, steps) })
}

// setter prints the statements that set a number of replicas.
type setter struct{ entries int }

// set prints those for the steps that are left of a place, which is not nil where it is the object.
func (s *setter) set(g *jen.Group, place *jen.Statement, t *model.Type, steps []model.Step) {
	if len(steps) == 0 {
		value := replicasAs(g, t)
		g.Add(place).Op("=").Add(value)
		return
	}
	if t.Form == model.Pointer {
		t = t.Elem
		ifNil(g, place, jen.New(typeCode(t)))
		if t.Form == model.Map {
			place = jen.Parens(jen.Op("*").Add(place))
		}
	}
	step, rest := steps[0], steps[1:]
	if step.Field != nil {
		s.set(g, place.Clone().Dot(step.Field.Name), step.Field.Type, rest)
		return
	}
	ifNil(g, place, jen.Make(typeCode(t)))
	at := place.Clone().Index(jen.Lit(step.Key))
	if len(rest) == 0 {
		s.set(g, at, t.Elem, rest)
		return
	}
	s.entries++
	entry := jen.Id("entry")
	if s.entries > 1 {
		entry = jen.Id("entry" + strconv.Itoa(s.entries))
	}
	g.Add(entry).Op(":=").Add(at)
	s.set(g, entry, t.Elem, rest)
	g.Add(at).Op("=").Add(entry)
}

func ifNil(g *jen.Group, place *jen.Statement, value jen.Code) {
	g.If(place.Clone().Op("==").Nil()).Block(place.Clone().Op("=").Add(value))
}

// replicasAs is the variable replicas as a value of a type, for which it may print a variable of that type.
func replicasAs(g *jen.Group, t *model.Type) jen.Code {
	value, end := jen.Id("replicas"), t.Pointee()
	switch {
	case end.Package != nil:
		g.Id("value").Op(":=").Qual(end.Package.Path, end.Name).Call(jen.Id("replicas"))
		value = jen.Id("value")
	case end.Basic != "int32" && end.Basic != "rune":
		g.Id("value").Op(":=").Id(end.Basic).Call(jen.Id("replicas"))
		value = jen.Id("value")
	}
	if t.Form == model.Pointer {
		return jen.Op("&").Add(value)
	}
	return value
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

// printSelectorText prints the function that writes a label selector as text.
func printSelectorText(f *jen.File) {
	f.Comment("selectorText is a label selector as clients of Scale read it; one that can't be read selects nothing.")
	f.Func().Id("selectorText").Params(jen.Id("s").Op("*").Qual(metaPath, "LabelSelector")).String().Block(
		jen.List(jen.Id("selector"), jen.Err()).Op(":=").Qual(metaPath, "LabelSelectorAsSelector").Call(jen.Id("s")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Lit(""))),
		jen.Return(jen.Id("selector").Dot("String").Call()),
	)
}
