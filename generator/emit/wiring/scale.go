package wiring

import (
	"strconv"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

const metaPath = "k8s.io/apimachinery/pkg/apis/meta/v1"

// scale prints the subresource scale.
func (p *printer) scale(r *model.Resource, s *model.Subresource) jen.Code {
	var paths []jen.Code
	var first *model.Scale
	var from *model.Type
	for _, v := range r.Served() {
		marked := s.Scales[v.Version]
		if marked == nil {
			p.errs.Add(v.Type.Pos, "kind %s has the subresource scale in another version, and none in %s: mark all "+
				"served versions with +kubebuilder:subresource:scale", r.Kind, v.Version.Name)
			return jen.Null()
		}
		if first == nil || v.Type == r.Hub {
			first, from = marked, v.Type
		}
		var names []jen.Code
		for _, step := range marked.SpecSteps {
			switch {
			case step.Field == nil:
				names = append(names, jen.Lit(step.Key))
			case !step.Field.Inline:
				names = append(names, jen.Lit(step.Field.JSON))
			}
		}
		paths = append(paths, jen.Lit(v.Version.Name).Op(":").Values(names...))
	}
	hub := pointer(r.Hub)
	members := []jen.Code{
		member("Replicas", p.scaleGetter(r, from, first, first.SpecSteps, jen.Int32(), returnInt32)),
		member("SetReplicas", p.scaleSetter(r, from, first)),
	}
	if first.StatusSteps != nil {
		members = append(members, member("StatusReplicas", p.scaleGetter(r, from, first, first.StatusSteps, jen.Int32(),
			returnInt32)))
	}
	if first.SelectorSteps != nil {
		members = append(members, member("Selector", p.scaleGetter(r, from, first, first.SelectorSteps, jen.String(),
			p.returnSelector)))
	}
	members = append(members, member("Paths", jen.Map(jen.String()).Index().String().Values(paths...)))
	return jen.Qual(subresourcePath, "ScaleOf").Call(literal(jen.Qual(subresourcePath, "Scale").Types(hub), members...))
}

// scaleGetter prints the function that reads what is at the end of a path of the hub.
func (p *printer) scaleGetter(r *model.Resource, from *model.Type, s *model.Scale, steps []model.Step,
	result *jen.Statement, done func(*jen.Group, operand) error) jen.Code {
	steps, err := onHub(r.Hub, from, steps)
	if err != nil {
		p.errs.Add(s.Pos, "marker \"+kubebuilder:subresource:scale\": %s", err)
		return jen.Nil()
	}
	none := jen.Lit(0)
	if result.GoString() == "string" {
		none = jen.Lit("")
	}
	return jen.Func().Params(jen.Id("obj").Add(pointer(r.Hub))).Add(result).BlockFunc(func(g *jen.Group) {
		w := &walker{none: func() jen.Code { return jen.Return(none.Clone()) }, done: done}
		if err := w.walk(g, operand{expr: "obj", typ: r.Hub}, steps); err != nil {
			p.errs.Add(s.Pos, "marker \"+kubebuilder:subresource:scale\": %s", err)
		}
	})
}

func returnInt32(g *jen.Group, found operand) error {
	value := jen.Id(found.value())
	switch {
	case !isInteger(found.typ):
		return faultf("%s is no number of replicas", plan.TypeText(found.typ))
	case found.typ.Basic == "int64" || found.typ.Basic == "int":
		g.Return(jen.Int32().Call(jen.Id("min").Call(value, jen.Qual("math", "MaxInt32"))))
	default:
		g.Return(as("int32", found.typ, value))
	}
	return nil
}

// returnSelector prints the statement that returns a selector as text.
func (p *printer) returnSelector(g *jen.Group, found operand) error {
	switch {
	case isString(found.typ):
		g.Return(as("string", found.typ, jen.Id(found.value())))
	case plan.IsNamed(found.typ, metaPath, "LabelSelector"):
		p.selecting = true
		expr := "&" + found.expr
		if found.pointer {
			expr = found.expr
		}
		g.Return(jen.Id("selectorText").Call(jen.Id(expr)))
	default:
		return faultf("%s is neither a string nor a LabelSelector", plan.TypeText(found.typ))
	}
	return nil
}

// scaleSetter prints the function that sets the number of replicas. What is absent on the way is made.
func (p *printer) scaleSetter(r *model.Resource, from *model.Type, s *model.Scale) jen.Code {
	steps, err := onHub(r.Hub, from, s.SpecSteps)
	if err != nil {
		return jen.Nil() // scaleGetter says so
	}
	return jen.Func().Params(jen.Id("obj").Add(pointer(r.Hub)), jen.Id("replicas").Int32()).
		BlockFunc(func(g *jen.Group) {
			new(setter).set(g, jen.Id("obj"), r.Hub, steps)
		})
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
		return jen.Id(plan.TypeText(t))
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
