package validation

import (
	"reflect"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
)

// fields checks the fields of the struct in v.
func (w *writer) fields(v value) []jen.Code {
	var code []jen.Code
	for _, f := range v.typ.Fields {
		if accessible(w.pkg, v.typ, f) {
			code = append(code, w.field(v, f)...)
		}
	}
	return code
}

// subfields returns the checks of single fields of the struct in v.
func (w *writer) subfields(v value, s *model.Schema) []jen.Code {
	var code []jen.Code
	for _, p := range s.Subfields {
		if f := fieldByJSON(v.typ, p.Name); f != nil && accessible(w.pkg, v.typ, f) {
			code = append(code, w.field(v, subfield(f, p))...)
		}
	}
	if v.self {
		for _, u := range subfieldUnions(v.typ, s) {
			code = append(code, w.fieldUnion(v, u))
		}
	}
	return code
}

// member is a field of a struct to check.
type member struct {
	value
	field *model.Field
	// holder is the field's own place: the pointer's, where the field is a pointer.
	holder gocode.Place
	// at is the expression of the field's path.
	at *jen.Statement
}

func (w *writer) member(parent value, f *model.Field) member {
	m := member{field: f, holder: parent.place.Field(f.Name), at: jen.Id(parent.path)}
	if !f.Inline {
		m.at = jen.Id(parent.path).Dot("Child").Call(jen.Lit(f.JSON))
	}
	m.value = value{
		typ: f.Type, place: m.holder, path: "path", label: parent.label + f.Name, name: f.JSON,
		old: oldValue{owner: parent.old.owner,
			place: func(name string) gocode.Place { return parent.old.place(name).Field(f.Name) }},
	}
	if f.Type.Form == model.Pointer && f.Type.Name == "" {
		m.typ, m.place, m.pointer = f.Type.Elem, m.holder.Deref(), true
	}
	return m
}

// field returns the checks of one field: of its markers and of its type. An optional field that is not set is not
// checked.
func (w *writer) field(parent value, f *model.Field) []jen.Code {
	m := w.member(parent, f)
	if m.typ.Form == model.Pointer { // of a pointer
		return nil
	}
	var code []jen.Code
	if change := w.change(m.value, &f.Schema); len(change) > 0 {
		code = append(code, w.when(m, w.changed(m.value), change...))
	}
	code = append(code, w.dependents(parent, m)...)
	if f.Schema.Rule(model.Forbidden) != nil {
		return append(code, w.when(m, and(w.set(m, true), w.changed(m.value)), w.fail(m.value, "Forbidden",
			jen.Lit(""))))
	}
	content := w.content(m.value, &f.Schema)
	var calls []jen.Code
	switch {
	case f.Schema.Opaque:
	case w.functionOf(m.typ) != nil:
		calls = []jen.Code{w.call(m.value, jen.Id("path"))}
	case m.typ.Form == model.Struct && m.typ.Name == "" && w.graph.reaches(m.typ):
		calls = []jen.Code{w.anonymous(m)}
	}
	content = append(content, w.elements(m.value, &f.Schema)...)
	calls = append(calls, w.inner(m)...)
	return append(append(code, w.present(m, content, calls)...), w.modes(parent, m)...)
}

// present puts the checks of a field behind their conditions: content runs where the field is set and has changed,
// calls, which handle changes themselves, run where it is set.
func (w *writer) present(m member, content, calls []jen.Code) []jen.Code {
	var set, none *jen.Statement
	if m.pointer || optional(m.field) || missing(m.field) {
		set = w.set(m, true)
	}
	if missing(m.field) {
		none = w.fail(m.value, "Required", jen.Lit(""))
	}
	changed := w.changed(m.value)
	switch {
	case none != nil && len(content)+len(calls) == 0:
		return []jen.Code{w.when(m, and(w.set(m, false), changed), none)}
	case none != nil && len(calls) == 0:
		return []jen.Code{w.when(m, changed, jen.If(w.set(m, false)).Block(none).Else().Block(content...))}
	case none != nil:
		return []jen.Code{jen.If(jen.Id("path").Op(":=").Add(m.at), set).Block(w.both(changed, content, calls)...).
			Else().If(changed).Block(none)}
	case len(content)+len(calls) == 0:
		return nil
	case len(calls) == 0:
		return []jen.Code{w.when(m, and(set, changed), content...)}
	case set != nil:
		return []jen.Code{w.when(m, set, w.both(changed, content, calls)...)}
	case len(content) == 0 && len(calls) == 1 && w.functionOf(m.typ) != nil:
		return []jen.Code{w.call(m.value, m.at)}
	}
	return []jen.Code{jen.Block(append([]jen.Code{jen.Id("path").Op(":=").Add(m.at)}, w.both(changed, content,
		calls)...)...)}
}

// both returns the checks of a changed value, and the calls.
func (w *writer) both(changed *jen.Statement, content, calls []jen.Code) []jen.Code {
	if len(content) == 0 {
		return calls
	}
	return append([]jen.Code{jen.If(changed).Block(content...)}, calls...)
}

// when runs checks of a field under a condition.
func (w *writer) when(m member, condition *jen.Statement, body ...jen.Code) jen.Code {
	return jen.If(jen.Id("path").Op(":=").Add(m.at), condition).Block(body...)
}

// set returns the condition that the field is set, or that it isn't. After decoding, only the value itself shows
// whether the field was present: a zero value counts as absent. An empty list or map that was present counts as set for
// controller-gen's markers, and as unset for Kubernetes'.
func (w *writer) set(m member, yes bool) *jen.Statement {
	op := "=="
	if yes {
		op = "!="
	}
	holder := m.holder.Value()
	switch t := m.field.Type; t.Form {
	case model.Slice, model.Map:
		if declarativePresence(m.field) {
			return jen.Len(holder).Op(op).Lit(0)
		}
		return holder.Op(op).Nil()
	case model.Pointer, model.Interface:
		return holder.Op(op).Nil()
	case model.Struct:
		if direct(t) {
			return holder.Op(op).Add(jen.Parens(w.file.Type(t).Values()))
		}
		zero := w.file.Qual("reflect", "ValueOf").Call(holder).Dot("IsZero").Call()
		if yes {
			return jen.Op("!").Add(zero)
		}
		return zero
	case model.Basic:
		switch {
		case t.Basic == "bool" && yes:
			return holder
		case t.Basic == "bool":
			return jen.Op("!").Add(holder)
		case t.Basic == "string":
			return holder.Op(op).Lit("")
		}
		return holder.Op(op).Lit(0)
	}
	return jen.Lit(yes)
}

// omitsZero reports whether JSON omits a struct that is zero.
func omitsZero(f *model.Field) bool {
	_, options, _ := strings.Cut(reflect.StructTag(f.Tag).Get("json"), ",")
	return slices.Contains(strings.Split(options, ","), "omitzero")
}

// declarativePresence reports whether Kubernetes' own markers define the field's presence.
func declarativePresence(f *model.Field) bool {
	for _, r := range f.Schema.Rules {
		if r.Declarative {
			return true
		}
	}
	return false
}

// and joins conditions; it ignores nil ones.
func and(a, b *jen.Statement) *jen.Statement {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return jen.Add(a).Op("&&").Parens(b)
}

// anonymous returns the check of a struct without a name, in a function of its own.
func (w *writer) anonymous(m member) jen.Code {
	f := jen.Func().Add(w.signature(m.typ)).Block(w.body(m.typ, nil, true, m.label)...)
	return w.add(f.Call(jen.Id("ctx"), jen.Id("op"), jen.Id("path"), m.place.Address(), w.oldAddress(m.value)))
}

// inner returns the checks that a field's markers make of the fields of its struct.
func (w *writer) inner(m member) []jen.Code {
	if m.typ.Form != model.Struct {
		return nil
	}
	var effective []model.Part
	for _, p := range m.field.Schema.Subfields {
		if f := fieldByJSON(m.typ, p.Name); f != nil && w.graph.fieldEffective(subfield(f, p)) {
			effective = append(effective, p)
		}
	}
	grouped := len(subfieldUnions(m.typ, &m.field.Schema)) > 0
	if grouped {
		effective = m.field.Schema.Subfields
	}
	if len(effective) == 0 {
		return nil
	}
	if !m.pointer && !grouped {
		return w.subfields(m.value, &model.Schema{Constraints: model.Constraints{Subfields: effective}})
	}
	body := append(w.subfields(self(m.typ, m.label),
		&model.Schema{Constraints: model.Constraints{Subfields: effective}}), jen.Return(jen.Id("errs")))
	f := jen.Func().Add(w.signature(m.typ)).Block(body...)
	return []jen.Code{w.add(f.Call(jen.Id("ctx"), jen.Id("op"), jen.Id("path"), m.place.Address(),
		w.oldAddress(m.value)))}
}
