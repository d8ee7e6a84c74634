package defaults

import (
	"slices"
	"strconv"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

type writer struct {
	plan    *plan.Defaults
	program *model.Program
	file    *gocode.File
	errs    diag.Errors

	helpers map[*model.Type]string
	taken   map[string]bool
	pending []helper
}

func newWriter(p *plan.Plan, d *plan.Defaults) *writer {
	return &writer{
		plan:    d,
		program: p.Program,
		file:    gocode.New(p.Program, d.Package, "d", "e", "f", "g", "h", "l", "m", "n"),
		errs:    slices.Clone(d.Faults),
		helpers: map[*model.Type]string{},
		taken:   map[string]bool{},
	}
}

func (w *writer) nested(t *model.Type, in gocode.Place, depth int) []jen.Code {
	switch d := w.plan.Types[t]; {
	case d == nil:
		return nil
	case w.plan.Object(t):
		return []jen.Code{jen.Id(plan.ObjectDefaulter(t)).Call(in.Address())}
	case d.ContainsItself:
		return []jen.Code{jen.Id(w.helperFor(t)).Call(in.Address())}
	}
	return w.inside(t, in, depth)
}

func (w *writer) inside(t *model.Type, in gocode.Place, depth int) []jen.Code {
	var code []jen.Code
	d := w.plan.Types[t]
	for _, f := range d.Calls {
		code = append(code, w.file.PackageQual(f.Package, f.Name).Call(in.Address()))
	}
	if d.Covers {
		return code
	}
	switch t.Form {
	case model.Pointer:
		to := in.Deref()
		if t.Name != "" {
			to = in.Starred()
		}
		if rest := w.nested(t.Elem, to, depth); len(rest) > 0 {
			code = append(code, in.IfNotNil(rest...))
		}
	case model.Struct:
		for _, f := range d.Fields {
			code = append(code, w.field(f, in.Field(f.Field.Name), depth)...)
		}
	case model.Slice, model.Array:
		code = append(code, w.elements(t, in, depth)...)
	case model.Map:
		code = append(code, w.entries(t, in, depth)...)
	}
	return code
}

// field sets the field's own default first, so that what it brings is defaulted like the rest.
func (w *writer) field(f plan.FieldDefault, in gocode.Place, depth int) []jen.Code {
	var code []jen.Code
	if f.Default != nil {
		code = w.set(f.Default, f.Field.Type, in)
	}
	return append(code, w.nested(f.Field.Type, in, depth)...)
}

func (w *writer) elementSet(t *model.Type, in gocode.Place) []jen.Code {
	if d := w.plan.Types[t].Element; d != nil {
		return w.set(d, t.Elem, in)
	}
	return nil
}

func (w *writer) elements(t *model.Type, in gocode.Place, depth int) []jen.Code {
	i := name("ijklmnop", "i", depth)
	element := in.Index(i)
	body := w.elementSet(t, element)
	local := name("abcdefgh", "local", depth)
	switch {
	case t.Elem.Form == model.Pointer && t.Elem.Name == "":
		if rest := w.nested(t.Elem, gocode.Variable(local), depth+1); len(rest) > 0 {
			body = append(append(body, jen.Id(local).Op(":=").Add(element.Value())), rest...)
		}
	default:
		if rest := w.nested(t.Elem, gocode.Pointee(local), depth+1); len(rest) > 0 {
			body = append(append(body, jen.Id(local).Op(":=").Add(element.Address())), rest...)
		}
	}
	if len(body) == 0 {
		return nil
	}
	return []jen.Code{w.file.Code("for $ := range $ {$}", i, in.Value(), body)}
}

// entries defaults the values of a map. They have no address: a copy is defaulted and stored back, except where the
// value is a pointer that stays the same.
func (w *writer) entries(t *model.Type, in gocode.Place, depth int) []jen.Code {
	key, val := name("", "key", depth), name("", "val", depth)
	body := w.elementSet(t, gocode.Variable(val))
	store := len(body) > 0 || t.Elem.Form != model.Pointer || t.Elem.Name != ""
	body = append(body, w.nested(t.Elem, gocode.Variable(val), depth+1)...)
	if len(body) == 0 {
		return nil
	}
	if !store {
		key = "_"
	} else {
		body = append(body, in.Index(key).Set(jen.Id(val)))
	}
	return []jen.Code{w.file.Code("for $, $ := range $ {$}", key, val, in.Value(), body)}
}

// name names a local variable of a depth: one of the letters, or else the word with a number.
func name(letters, word string, depth int) string {
	switch {
	case depth < len(letters):
		return letters[depth : depth+1]
	case depth == 0:
		return word
	}
	return word + strconv.Itoa(depth+1)
}
