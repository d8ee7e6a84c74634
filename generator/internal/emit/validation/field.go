package validation

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan/check"
)

func (w *writer) fields(v value) []jen.Code {
	var code []jen.Code
	for _, f := range v.typ.Fields {
		if check.Accessible(w.pkg, v.typ, f) {
			code = append(code, w.field(v, f)...)
		}
	}
	return code
}

// subfields returns the checks of single fields of the struct in v.
func (w *writer) subfields(v value, s *model.Schema) []jen.Code {
	var code []jen.Code
	for _, p := range s.Subfields {
		if f := check.FieldByJSON(v.typ, p.Name); f != nil && check.Accessible(w.pkg, v.typ, f) {
			code = append(code, w.field(v, check.Subfield(f, p))...)
		}
	}
	if v.self {
		for _, u := range check.SubfieldUnions(v.typ, s) {
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
	at string
}

func (w *writer) member(parent value, f *model.Field) member {
	m := member{field: f, holder: parent.place.Field(f.Name), at: parent.path}
	if !f.Inline {
		m.at += fmt.Sprintf(".Child(%q)", f.JSON)
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
	if f.Inline && m.pointer && w.pkg.HasCustom() && w.functionOf(m.typ) != nil {
		return []jen.Code{w.embedded(m)}
	}
	var code []jen.Code
	if change := w.change(m.value, &f.Schema); len(change) > 0 {
		code = append(code, w.when(m, w.changed(m.value), change...))
	}
	code = append(code, w.dependents(parent, m)...)
	if f.Schema.Rule(model.Forbidden) != nil {
		return append(code, w.when(m, w.and(w.set(m, true), w.changed(m.value)), w.fail(m.value, "Forbidden",
			jen.Lit(""))))
	}
	content := w.content(m.value, &f.Schema)
	var calls []jen.Code
	switch {
	case f.Schema.HidesType():
	case w.functionOf(m.typ) != nil:
		calls = []jen.Code{w.add("$(ctx, op, path, $, $)", w.functionOf(m.typ), m.place.Address(), w.oldStruct(m))}
	case m.typ.Form == model.Struct && m.typ.Name == "" && w.checks.Reaches(m.typ):
		calls = []jen.Code{w.inPlace(m, w.body(m.typ, nil, true, m.label))}
	}
	content = append(content, w.elements(m.value, &f.Schema)...)
	calls = append(calls, w.inner(m)...)
	return append(append(code, w.present(m, content, calls)...), w.modes(parent, m)...)
}

// oldStruct is oldAddress for the field of a struct. An old value that is zero was absent, where JSON lacks it: it is
// nothing that a rule about the members of the struct could leave alone.
func (w *writer) oldStruct(m member) jen.Code {
	if m.field.Type.Form != model.Struct || !w.checks.OmitsZero(m.field) || !check.CountsMembers(m.typ) {
		return w.oldAddress(m.value)
	}
	old := w.file.Code(w.common(unlessZero)+"($)", m.old.place("old").Address())
	return w.oldField(m.value, w.file.Code("*$", w.file.Type(m.typ)), old)
}

// embedded returns the check of a struct that is embedded by a pointer. JSON doesn't show whether that is nil: rules
// about the members hold for the outer struct either way.
func (w *writer) embedded(m member) jen.Code {
	members := w.common(membersOf)
	old := w.file.Code(members+"($)", m.value.old.place("old").Value())
	return w.add("$(ctx, op, "+m.at+", "+members+"($), $)", w.functionOf(m.typ), m.holder.Value(),
		w.oldField(m.value, w.file.Code("*$", w.file.Type(m.typ)), old))
}

// present puts the checks of a field behind their conditions: content runs where the field is set and has changed,
// calls, which handle changes themselves, run if it is set.
func (w *writer) present(m member, content, calls []jen.Code) []jen.Code {
	var set, none *jen.Statement
	if m.pointer || w.checks.Optional(m.field) || check.Missing(m.field) {
		set = w.set(m, true)
	}
	if check.Missing(m.field) {
		none = w.fail(m.value, "Required", jen.Lit(""))
	}
	changed := w.changed(m.value)
	switch {
	case none != nil && len(content)+len(calls) == 0:
		return []jen.Code{w.when(m, w.and(w.set(m, false), changed), none)}
	case none != nil && len(calls) == 0:
		either := w.file.Code("$ else $", w.ifThen(w.set(m, false), none), jen.Block(content...))
		return []jen.Code{w.when(m, changed, either)}
	case none != nil:
		present := w.when(m, set, w.both(m, content, calls)...)
		return []jen.Code{w.file.Code("$ else if $ {\n$\n}", present, changed, none)}
	case len(content)+len(calls) == 0:
		return nil
	case len(calls) == 0:
		return []jen.Code{w.when(m, w.and(set, changed), content...)}
	case set != nil:
		return []jen.Code{w.when(m, set, w.both(m, content, calls)...)}
	case len(content) == 0 && len(calls) == 1 && w.functionOf(m.typ) != nil:
		return []jen.Code{w.call(m.value, jen.Op(m.at))}
	}
	return []jen.Code{jen.Block(append([]jen.Code{w.file.Code("path := " + m.at)}, w.both(m, content, calls)...)...)}
}

func (w *writer) both(m member, content, calls []jen.Code) []jen.Code {
	if len(content) == 0 {
		return calls
	}
	return append([]jen.Code{w.ifChanged(m.value, content...)}, calls...)
}

func (w *writer) when(m member, condition jen.Code, body ...jen.Code) *jen.Statement {
	return w.file.Code("if path := "+m.at+"; $ $", condition, jen.Block(body...))
}

// set returns the condition that the field is set, or that it isn't. After decoding, only the value itself shows
// whether the field was present: a zero value counts as absent. An empty list or map that was present counts as set for
// controller-gen's markers, and as unset for Kubernetes'.
func (w *writer) set(m member, yes bool) *jen.Statement {
	op, not := "==", "!"
	if yes {
		op, not = "!=", ""
	}
	holder, t := m.holder.Value(), m.field.Type
	switch {
	case (t.Form == model.Slice || t.Form == model.Map) && declarativePresence(m.field):
		return w.file.Code("len($) "+op+" 0", holder)
	case t.Form == model.Slice, t.Form == model.Map, t.Form == model.Pointer, t.Form == model.Interface:
		return w.file.Code("$ "+op+" nil", holder)
	case t.Form == model.Struct && direct(t):
		return w.file.Code("$ "+op+" ($ {})", holder, w.file.Type(t))
	case t.Form == model.Struct:
		// A copy would be made of a value, and a struct may have a lock.
		return w.file.Code(map[bool]string{true: "!"}[yes]+"reflect.ValueOf($).Elem().IsZero()", m.holder.Address())
	case model.IsBool(t) && t.Name != "":
		return w.file.Code(not+"bool($)", holder)
	case model.IsBool(t):
		return w.file.Code(not+"$", holder)
	case model.IsString(t):
		return w.file.Code("$ "+op+` ""`, holder)
	case t.Form == model.Basic:
		return w.file.Code("$ "+op+" 0", holder)
	}
	return jen.Lit(yes)
}

// declarativePresence reports whether Kubernetes' own markers define the field's presence.
func declarativePresence(f *model.Field) bool {
	return slices.ContainsFunc(f.Schema.Rules, func(r model.Rule) bool { return r.Declarative })
}

// and joins conditions, of which the first may be nil.
func (w *writer) and(a, b *jen.Statement) *jen.Statement {
	if a == nil {
		return b
	}
	return w.file.Code("$ && ($)", a, b)
}

// inPlace calls a function that is written where it is called, for the value of a field.
func (w *writer) inPlace(m member, body []jen.Code) jen.Code {
	return w.add("func$(ctx, op, path, $, $)", w.checker(m.typ, body), m.place.Address(), w.oldAddress(m.value))
}

func (w *writer) inner(m member) []jen.Code {
	if m.typ.Form != model.Struct {
		return nil
	}
	var effective []model.Part
	for _, p := range m.field.Schema.Subfields {
		if f := check.FieldByJSON(m.typ, p.Name); f != nil && w.checks.FieldEffective(check.Subfield(f, p)) {
			effective = append(effective, p)
		}
	}
	grouped := len(check.SubfieldUnions(m.typ, &m.field.Schema)) > 0
	if grouped {
		effective = m.field.Schema.Subfields
	}
	if len(effective) == 0 {
		return nil
	}
	parts := &model.Schema{Constraints: model.Constraints{Subfields: effective}}
	if !m.pointer && !grouped {
		return w.subfields(m.value, parts)
	}
	return []jen.Code{w.inPlace(m, w.subfields(self(m.typ, m.label), parts))}
}

// change returns the checks of a change of a value, whether or not the value is set. They run where the value may
// differ from the old one: a field that an update adds counts as changed.
func (w *writer) change(v value, s *model.Schema) []jen.Code {
	var code []jen.Code
	var words []string
	for _, r := range s.Rules {
		switch r.Check {
		case model.Immutable:
			code = append(code, w.check(v, "Immutable", v.place.Address(), jen.Nil()))
		case model.Update:
			words = append(words, r.Values...)
		}
	}
	if c := w.update(v, s, words); c != nil {
		code = append(code, c)
	}
	return code
}

// updates are the restrictions on updates, which apimachinery's constants name.
var updates = map[string]bool{"NoSet": true, "NoUnset": true, "NoModify": true, "NoAddItem": true, "NoRemoveItem": true}

func (w *writer) update(v value, s *model.Schema, words []string) jen.Code {
	var args []jen.Code
	for _, name := range words {
		if updates[name] {
			args = append(args, w.file.Code("validate."+name))
		}
	}
	if len(args) == 0 {
		return nil
	}
	value, old, function := v.place.Address(), w.oldAddress, "UpdateValueByReflect"
	switch {
	case v.pointer:
		function = "UpdatePointer"
	case v.typ.Form == model.Slice:
		value, old, function = v.place.Value(), w.oldList, sliceOf(v.typ)+"Update"
		kind, keys := identity(v.typ, s)
		args = append([]jen.Code{orNil(w.match(v.typ, kind, keys))}, args...)
	case v.typ.Form == model.Map:
		value, old, function = v.place.Value(), w.oldList, "UpdateMap"
	case v.typ.Form == model.Struct:
		function = "UpdateStruct"
	case direct(v.typ):
		function = "UpdateValueByCompare"
	}
	return w.check(v, function, append([]jen.Code{value, old(v)}, args...)...)
}
