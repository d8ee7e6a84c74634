package defaults

import (
	"encoding/json"
	"strconv"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
)

// set writes the default of a marker into the place where that is still zero. A value that doesn't fit is told at the
// marker.
func (w *writer) set(d *model.Default, t *model.Type, in gocode.Place) []jen.Code {
	if err := d.Mismatch(t); err != nil {
		w.errs.Add(d.Pos, "%v", err)
		return nil
	}
	pointers, base := pointerChain(t)
	if d.Ref != nil {
		return w.setRef(d, t, pointers, base, in)
	}
	value, _ := d.Value() // which fits
	switch {
	case base.Form == model.Basic && !base.DecodesItself():
		constant := jen.Op(literal(value))
		if len(pointers) > 0 && !untyped(value, base) {
			constant = w.file.Type(base).Call(constant)
		}
		return []jen.Code{w.whenZero(t, in, w.assign(pointers, base, constant, in)...)}
	case empty(value) && w.fresh(t) != nil:
		return []jen.Code{w.whenZero(t, in, in.Set(w.fresh(t)))}
	}
	decode := w.file.Qual("encoding/json", "Unmarshal").Call(jen.Index().Byte().Parens(text(d.JSON)), in.Address())
	return []jen.Code{w.whenZero(t, in,
		jen.If(jen.Err().Op(":=").Add(decode), jen.Err().Op("!=").Nil()).Block(jen.Panic(jen.Err())))}
}

func (w *writer) setRef(d *model.Default, t *model.Type, pointers []*model.Type, base *model.Type,
	in gocode.Place) []jen.Code {
	path := d.Ref.Path
	if path == "" {
		path = w.plan.Source.Path
	}
	value := w.file.Qual(path, d.Ref.Name)
	if !w.hasType(path, d.Ref.Name, base) {
		value = w.file.Type(base).Call(value)
	}
	return []jen.Code{w.whenZero(t, in, w.assign(pointers, base, value, in)...)}
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

// assign puts a value of a basic type into the place, through as many pointers as there are.
func (w *writer) assign(pointers []*model.Type, base *model.Type, value jen.Code, in gocode.Place) []jen.Code {
	if len(pointers) == 0 {
		return []jen.Code{in.Set(value)}
	}
	variable := func(i int) string { return "ptrVar" + strconv.Itoa(i) }
	last := len(pointers)
	code := []jen.Code{jen.Id(variable(last)).Op(":=").Add(value)}
	for i := last - 1; i > 0; i-- {
		code = append(code, jen.Var().Id(variable(i)).Add(w.file.Type(pointers[i])).Op("=").Op("&").Id(variable(i+1)))
	}
	return append(code, in.Set(jen.Op("&").Id(variable(1))))
}

func (w *writer) whenZero(t *model.Type, in gocode.Place, body ...jen.Code) jen.Code {
	var condition *jen.Statement
	switch {
	case t.Form == model.Basic && t.Basic == "bool":
		condition = jen.Op("!").Add(in.Value())
	case t.Form == model.Basic && t.Basic == "string":
		condition = in.Value().Op("==").Lit("")
	case t.Form == model.Basic:
		condition = in.Value().Op("==").Lit(0)
	case t.Form == model.Struct && equatable(t), t.Form == model.Array && equatable(t):
		condition = in.Value().Op("==").Parens(w.file.Type(t).Values())
	case t.Form == model.Struct, t.Form == model.Array:
		condition = w.file.Qual("reflect", "ValueOf").Call(in.Value()).Dot("IsZero").Call()
	default:
		condition = in.Value().Op("==").Nil()
	}
	return jen.If(condition).Block(body...)
}

// fresh is an empty value of the type, for defaults of {} and []; nil where it has to be decoded.
func (w *writer) fresh(t *model.Type) *jen.Statement {
	switch {
	case t.DecodesItself():
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

// untyped tells whether a variable that is declared with the literal gets that type by itself.
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

// text is a string in the form that is easier to read.
func text(s string) jen.Code {
	if strconv.CanBackquote(s) {
		return jen.Op("`" + s + "`")
	}
	return jen.Lit(s)
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

// equatable tells whether == works on the type, and never panics.
func equatable(t *model.Type) bool {
	switch t.Form {
	case model.Basic, model.Pointer, model.Chan, model.UnsafePointer:
		return true
	case model.Array:
		return equatable(t.Elem)
	case model.Struct:
		for _, field := range t.Fields {
			if !equatable(field.Type) {
				return false
			}
		}
		return true
	}
	return false
}
