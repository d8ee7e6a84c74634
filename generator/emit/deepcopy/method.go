package deepcopy

import (
	"fmt"
	"sort"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
)

// methods prints the methods of one type, each unless it is hand-written.
type methods struct {
	copier *copier
	file   *gocode.File
	t      *model.Type
}

func (m methods) declared(name string) bool { return m.t.Methods[name] != nil }

// receiver is in *T, or in T for maps and slices, which are references already.
func (m methods) receiver() *jen.Statement {
	if reference(m.t) {
		return jen.Params(jen.Id("in").Id(m.t.Name))
	}
	return jen.Params(jen.Id("in").Op("*").Id(m.t.Name))
}

func (m methods) into() {
	if m.declared("DeepCopyInto") {
		return
	}
	m.file.Add("DeepCopyInto copies the receiver into out; nothing is shared between the two. in must be non-nil.",
		jen.Func().Add(m.receiver()).Id("DeepCopyInto").Params(jen.Id("out").Op("*").Id(m.t.Name)).
			Block(m.intoBody()...))
}

func (m methods) intoBody() []jen.Code {
	switch {
	case m.declared("DeepCopy") && returnsPointer(m.t):
		return []jen.Code{jen.Op("*").Id("out").Op("=").Op("*").Id("in").Dot("DeepCopy").Call()}
	case m.declared("DeepCopy"):
		return []jen.Code{jen.Op("*").Id("out").Op("=").Id("in").Dot("DeepCopy").Call()}
	}
	return m.copier.body(m.t)
}

func (m methods) deepCopy() {
	if m.declared("DeepCopy") {
		return
	}
	doc := fmt.Sprintf("DeepCopy returns a copy that shares nothing with the receiver, a new %s.", m.t.Name)
	result := jen.Op("*").Id(m.t.Name)
	value := jen.Id("out")
	if reference(m.t) {
		result, value = jen.Id(m.t.Name), jen.Op("*").Id("out")
	}
	m.file.Add(doc, jen.Func().Add(m.receiver()).Id("DeepCopy").Params().Add(result).Block(
		jen.If(jen.Id("in").Op("==").Nil()).Block(jen.Return(jen.Nil())),
		jen.Id("out").Op(":=").New(jen.Id(m.t.Name)),
		jen.Id("in").Dot("DeepCopyInto").Call(jen.Id("out")),
		jen.Return(value),
	))
}

// interfaces prints a DeepCopyX for each interface X that a marker asks for.
func (m methods) interfaces() {
	if m.t.DeepCopy == model.DeepCopyNone || !methodsAllowed(m.t) || len(m.t.TypeArgs) > 0 {
		return
	}
	refs := append([]model.Ref(nil), m.t.DeepCopyInterfaces...)
	sort.Slice(refs, func(i, j int) bool {
		return refs[i].Path+"."+refs[i].Name < refs[j].Path+"."+refs[j].Name
	})
	for i, ref := range refs {
		same := i > 0 && refs[i-1].Path == ref.Path && refs[i-1].Name == ref.Name
		if name := "DeepCopy" + ref.Name; !same && !m.declared(name) {
			m.asInterface(name, ref)
		}
	}
}

func (m methods) asInterface(name string, ref model.Ref) {
	doc := fmt.Sprintf("%s returns a copy that shares nothing with the receiver, as %s.", name, ref.Name)
	receiver := m.receiver()
	var body []jen.Code
	switch {
	case m.t.NonPointerInterfaces && !reference(m.t):
		receiver = jen.Params(jen.Id("in").Id(m.t.Name))
		body = []jen.Code{jen.Return(m.valueCopy())}
	case m.copyIsPointer() || reference(m.t):
		body = []jen.Code{
			jen.If(jen.Id("c").Op(":=").Id("in").Dot("DeepCopy").Call(), jen.Id("c").Op("!=").Nil()).
				Block(jen.Return(jen.Id("c"))),
			jen.Return(jen.Nil()),
		}
	default:
		body = []jen.Code{
			jen.If(jen.Id("in").Op("==").Nil()).Block(jen.Return(jen.Nil())),
			jen.Id("c").Op(":=").Id("in").Dot("DeepCopy").Call(),
			jen.Return(jen.Op("&").Id("c")),
		}
	}
	m.file.Add(doc, jen.Func().Add(receiver).Id(name).Params().Add(m.file.Qual(ref.Path, ref.Name)).Block(body...))
}

// copyIsPointer tells whether the type's DeepCopy, hand-written or ours, returns a pointer.
func (m methods) copyIsPointer() bool {
	if m.declared("DeepCopy") {
		return returnsPointer(m.t)
	}
	return !reference(m.t)
}

func (m methods) valueCopy() *jen.Statement {
	call := jen.Id("in").Dot("DeepCopy").Call()
	if m.copyIsPointer() {
		return jen.Op("*").Add(call)
	}
	return call
}
