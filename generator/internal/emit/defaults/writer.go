package defaults

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/plan/defaulter"
)

type writer struct {
	plan    *plan.Defaults
	program *model.Program
	file    *gocode.File

	helpers map[*model.Type]string
	taken   map[string]bool
	pending []helper
}

func (w *writer) nested(t *model.Type, in gocode.Place, depth int) []jen.Code {
	switch d := w.plan.Types[t]; {
	case d == nil:
		return nil
	case w.plan.Object(t):
		return []jen.Code{jen.Id(defaulter.ObjectName(t)).Call(in.Address())}
	case d.ContainsItself:
		return []jen.Code{jen.Id(w.helperFor(t)).Call(in.Address())}
	}
	return w.inside(t, in, depth)
}

func (w *writer) inside(t *model.Type, in gocode.Place, depth int) []jen.Code {
	var code []jen.Code
	d := w.plan.Types[t]
	if len(d.Calls) > 0 {
		w.file.Type(t) // the package of the types takes the customary name, before that of the function
	}
	if d.Method != nil {
		code = append(code, w.file.Code("$."+d.Method.Name+"(context.Background())", in.Address()))
	}
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
	inside := w.nested(f.Field.Type, in, depth)
	absent := w.isZero(f.Field.Type, in)
	if f.IfEmpty {
		absent = w.file.Code("len($) == 0", in.Value())
	}
	return append(w.set(f.Default, f.Field.Type, in, absent), inside...)
}

func (w *writer) elementSet(t *model.Type, in gocode.Place) []jen.Code {
	return w.set(w.plan.Types[t].Element, t.Elem, in, w.isZero(t.Elem, in))
}

func (w *writer) elements(t *model.Type, in gocode.Place, depth int) []jen.Code {
	i := name("ijklmnop", "i", depth)
	element := in.Index(i)
	body := w.elementSet(t, element)
	local := name("abcdefgh", "local", depth)
	at, value := gocode.Pointee(local), element.Address()
	if t.Elem.Form == model.Pointer && t.Elem.Name == "" {
		at, value = gocode.Variable(local), element.Value()
	}
	if rest := w.nested(t.Elem, at, depth+1); len(rest) > 0 {
		body = append(append(body, jen.Id(local).Op(":=").Add(value)), rest...)
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

func name(letters, word string, depth int) string {
	switch {
	case depth < len(letters):
		return letters[depth : depth+1]
	case depth == 0:
		return word
	}
	return word + strconv.Itoa(depth+1)
}

// set writes the default of a marker into a place if there is no value.
func (w *writer) set(d *model.Default, t *model.Type, in gocode.Place, absent jen.Code) []jen.Code {
	if d == nil {
		return nil
	}
	return []jen.Code{w.file.Code("if $ {$}", absent, w.assignDefault(d, t, in))}
}

func (w *writer) assignDefault(d *model.Default, t *model.Type, in gocode.Place) []jen.Code {
	pointers, base := pointerChain(t)
	if d.Ref != nil {
		return w.assign(pointers, base, w.constant(d.Ref, base), in)
	}
	value := d.Value() // which judges found to fit
	switch {
	case base.Form == model.Basic && !base.DecodesItself() && (len(pointers) == 0 || w.file.Names(base)):
		constant := jen.Op(literal(value))
		if len(pointers) > 0 && !untyped(value, base) {
			constant = w.file.Type(base).Call(constant)
		}
		return w.assign(pointers, base, constant, in)
	case empty(value) && w.fresh(t) != nil:
		return []jen.Code{in.Set(w.fresh(t))}
	}
	return []jen.Code{w.file.Code("if err := json.Unmarshal([]byte($), $); err != nil {\npanic(err)\n}",
		gocode.RawLiteral(d.JSON), in.Address())}
}

// constant is the constant that a default refers to, as a value of a type.
func (w *writer) constant(ref *model.Ref, t *model.Type) jen.Code {
	path := ref.Path
	if path == "" {
		path = w.plan.Source.Path
	}
	value := w.file.Qual(path, ref.Name)
	if !w.hasType(path, ref.Name, t) {
		value = w.file.Type(t).Call(value)
	}
	return value
}

func (w *writer) hasType(path, name string, t *model.Type) bool {
	for _, pkg := range w.program.Packages {
		for _, c := range pkg.Consts {
			if pkg.Path == path && c.Name == name && c.Type == t {
				return true
			}
		}
	}
	return false
}

func (w *writer) assign(pointers []*model.Type, base *model.Type, value jen.Code, in gocode.Place) []jen.Code {
	if len(pointers) == 0 {
		return []jen.Code{in.Set(value)}
	}
	variable := func(i int) string { return "ptrVar" + strconv.Itoa(i) }
	code := []jen.Code{w.file.Code("$ := $", variable(len(pointers)), value)}
	for i := len(pointers) - 1; i > 0; i-- {
		code = append(code, w.file.Code("var $ $ = &$", variable(i), w.file.Type(pointers[i]), variable(i+1)))
	}
	return append(code, in.Set(jen.Op("&ptrVar1")))
}

// isZero is the condition under which there is no value in a place.
func (w *writer) isZero(t *model.Type, in gocode.Place) jen.Code {
	condition := "$ == nil"
	args := []any{in.Value()}
	switch {
	case t.Form == model.Basic && t.Basic == "bool":
		condition = "!$"
	case t.Form == model.Basic && t.Basic == "string":
		condition = `$ == ""`
	case t.Form == model.Basic:
		condition = "$ == 0"
	case (t.Form == model.Struct || t.Form == model.Array) && w.comparesWithZero(t):
		condition, args = "$ == ($)", append(args, w.file.Type(t).Values())
	case t.Form == model.Struct, t.Form == model.Array:
		// A copy would be made of a value, and a struct may have a lock.
		condition, args = "reflect.ValueOf($).Elem().IsZero()", []any{in.Address()}
	}
	return w.file.Code(condition, args...)
}

// comparesWithZero reports whether Go compares values of the type with its zero value, which the file can write.
func (w *writer) comparesWithZero(t *model.Type) bool { return equatable(t) && w.file.Names(t) }

// fresh is an empty value of the type, for defaults of {} and []; nil if it has to be decoded.
func (w *writer) fresh(t *model.Type) *jen.Statement {
	switch {
	case t.DecodesItself() || !w.file.Names(t):
		return nil
	case t.Form == model.Pointer && t.Elem.Form == model.Struct && !t.Elem.DecodesItself():
		return jen.New(w.file.Type(t.Elem))
	case t.Form == model.Slice, t.Form == model.Map:
		return w.file.Type(t).Values()
	}
	return nil
}

func pointerChain(t *model.Type) (pointers []*model.Type, base *model.Type) {
	for t.Form == model.Pointer {
		pointers = append(pointers, t)
		t = t.Elem
	}
	return pointers, t
}

func literal(value any) string {
	switch v := value.(type) {
	case string:
		return strconv.Quote(v)
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	}
	return ""
}

// untyped reports whether a variable that is declared with the literal gets that type by itself.
func untyped(value any, t *model.Type) bool {
	if t.Name != "" {
		return false
	}
	if n, ok := value.(json.Number); ok {
		_, err := n.Int64()
		return t.Basic == "int" && err == nil
	}
	return true
}

func equatable(t *model.Type) bool {
	switch t.Form {
	case model.Basic, model.Pointer, model.Chan, model.UnsafePointer:
		return true
	case model.Array:
		return equatable(t.Elem)
	case model.Struct:
		return !slices.ContainsFunc(t.Fields, func(f *model.Field) bool { return !equatable(f.Type) })
	}
	return false
}

func empty(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}
