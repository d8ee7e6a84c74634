package deepcopy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
)

type methods struct {
	copier *copier
	file   *gocode.File
	t      *model.Type
}

func (m methods) declared(name string) bool { return m.t.Methods[name] != nil }

func (m methods) receiver() string {
	if reference(m.t) {
		return "(in " + m.t.Name + ")"
	}
	return "(in *" + m.t.Name + ")"
}

func (m methods) into() {
	if m.declared("DeepCopyInto") {
		return
	}
	var body []jen.Code
	switch {
	case m.declared("DeepCopy") && returnsPointer(m.t):
		body = []jen.Code{m.file.Code("*out = *in.DeepCopy()")}
	case m.declared("DeepCopy"):
		body = []jen.Code{m.file.Code("*out = in.DeepCopy()")}
	default:
		body = m.copier.body(m.t)
	}
	m.file.Add("DeepCopyInto copies the receiver into out; nothing is shared between the two. in must be non-nil.",
		m.file.Code("func $ DeepCopyInto(out *$) {$}", m.receiver(), m.t.Name, body))
}

func (m methods) deepCopy() {
	if m.declared("DeepCopy") {
		return
	}
	result, value := "*"+m.t.Name, "out"
	if reference(m.t) {
		result, value = m.t.Name, "*out"
	}
	m.file.Add(fmt.Sprintf("DeepCopy returns a copy that shares nothing with the receiver, a new %s.", m.t.Name),
		m.file.Code(`func $ DeepCopy() $ {
			if in == nil {
				return nil
			}
			out := new($)
			in.DeepCopyInto(out)
			return $
		}`, m.receiver(), result, m.t.Name, value))
}

func (m methods) interfaces() {
	if m.t.DeepCopy == model.DeepCopyNone || !methodsAllowed(m.t) || len(m.t.TypeArgs) > 0 {
		return
	}
	refs := slices.SortedFunc(slices.Values(m.t.DeepCopyInterfaces), func(a, b model.Ref) int {
		return strings.Compare(a.Path+"."+a.Name, b.Path+"."+b.Name)
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
	var body string
	switch {
	case m.t.NonPointerInterfaces && !reference(m.t):
		receiver, body = "(in "+m.t.Name+")", "return in.DeepCopy()"
		if m.copyIsPointer() {
			body = "return *in.DeepCopy()"
		}
	case m.copyIsPointer() || reference(m.t):
		body = `if c := in.DeepCopy(); c != nil {
			return c
		}
		return nil`
	default:
		body = `if in == nil {
			return nil
		}
		c := in.DeepCopy()
		return &c`
	}
	m.file.Add(doc, m.file.Code("func $ $() $ {\n$\n}", receiver, name, m.file.Qual(ref.Path, ref.Name), body))
}

func (m methods) copyIsPointer() bool {
	if m.declared("DeepCopy") {
		return returnsPointer(m.t)
	}
	return !reference(m.t)
}

func (c *copier) refuse(format string, args ...any) {
	if c.refused[c.pos] {
		return
	}
	c.refused[c.pos] = true
	c.errs.Add(c.pos, "%s %s", strings.Join(c.path, "."), fmt.Sprintf(format, args...))
}

func (c *copier) refuseForm(t *model.Type) {
	what := map[model.Form]string{
		model.Func_:         "a func",
		model.Chan:          "a chan",
		model.UnsafePointer: "an unsafe.Pointer",
		model.TypeParam:     "of a type parameter",
	}[t.Form]
	c.refuse("is %s, which can't be copied: keep it out of the API type, or %s", what, c.byHand())
}

func (c *copier) refuseInterface(t *model.Type) {
	named := "a named interface with a method DeepCopy<Name>"
	if t.Package != nil && t.Name != "" {
		named = fmt.Sprintf("a method DeepCopy%s() %s of the interface", t.Name, t.Name)
	}
	c.refuse("is the interface %s, which can't be copied: use %s, runtime.RawExtension or apiextensions' JSON, or %s",
		model.TypeText(t), named, c.byHand())
}

func (c *copier) refuseLock(lock *model.Type) {
	c.refuse("holds a %s, which must not be copied: keep it out of the API type, or %s", model.TypeText(lock),
		c.byHand())
}

func (c *copier) refuseHidden(t *model.Type, field *model.Field) {
	if lock := lockIn(t); lock != nil {
		c.refuseLock(lock)
		return
	}
	c.refuse("has the type %s, whose unexported field %s holds references that only its own package can copy: use a "+
		"type with a DeepCopyInto method, or %s", model.TypeText(t), field.Name, c.byHand())
}

func (c *copier) byHand() string {
	return fmt.Sprintf("write %s's DeepCopyInto by hand, or mark it +k8s:deepcopy-gen=false", c.top.Name)
}
