package deepcopy

import (
	"fmt"
	"strings"

	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

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
		plan.Text(t, nil), named, c.byHand())
}

func (c *copier) refuseLock(lock *model.Type) {
	c.refuse("holds a %s, which must not be copied: keep it out of the API type, or %s", plan.Text(lock, nil), c.byHand())
}

func (c *copier) refuseHidden(t *model.Type, field *model.Field) {
	if lock := lockIn(t); lock != nil {
		c.refuseLock(lock)
		return
	}
	c.refuse("has the type %s, whose unexported field %s holds references that only its own package can copy: use a "+
		"type "+
		"with a DeepCopyInto method, or %s", plan.Text(t, nil), field.Name, c.byHand())
}

func (c *copier) byHand() string {
	return fmt.Sprintf("write %s's DeepCopyInto by hand, or mark it +k8s:deepcopy-gen=false", c.top.Name)
}
