package validation

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan/check"
	"apigen.dev/generator/internal/schema"
)

func (w *writer) unions(v value) []jen.Code {
	var code []jen.Code
	for _, u := range check.Unions(v.typ) {
		code = append(code, w.fieldUnion(v, u))
	}
	return code
}

func (w *writer) fieldUnion(v value, u *schema.Union) jen.Code {
	return w.union(v, u, jen.Id("obj"), jen.Id("oldObj"), func(f *model.Field) jen.Code { return w.isSet(v.typ, f) })
}

// union calls apimachinery's check of a union in obj, where isSet returns the function that reports whether a member is
// set.
func (w *writer) union(v value, u *schema.Union, obj, old jen.Code, isSet func(*model.Field) jen.Code) jen.Code {
	function, kind := "Union", ""
	var members []jen.Code
	args := []jen.Code{jen.Id("ctx"), jen.Id("op"), jen.Id(v.path), obj, old, nil}
	switch d := u.Discriminator; {
	case u.ZeroOrOne:
		function = "ZeroOrOneOfUnion"
	case d != nil:
		function, kind = "DiscriminatedUnion", "Discriminated"
		members, args = []jen.Code{jen.Lit(d.JSON)}, append(args, w.discriminator(v.typ, d))
	}
	for i, f := range u.Members {
		literals := []jen.Code{jen.Lit(f.JSON)}
		if u.Discriminator != nil {
			literals = append(literals, jen.Lit(u.Values[i]))
		}
		members = append(members, w.file.Code("validate.New"+kind+"UnionMember($)", jen.List(literals...)))
		args = append(args, isSet(f))
	}
	doc := "are the fields of which one is set."
	if v.typ.Form == model.Slice {
		doc = "are the elements of which one is there."
	}
	args[5] = jen.Id(w.declare(v.label+"Union", doc,
		w.file.Code("validate.New"+kind+"UnionMembership($)", jen.List(members...))))
	return w.add("validate."+function+"$", jen.Custom(jen.Options{Open: "(", Close: ")", Separator: ",", Multi: true},
		args...))
}

func (w *writer) isSet(t *model.Type, f *model.Field) jen.Code {
	m := w.member(self(t, ""), f)
	condition := w.set(m, true)
	if f.Type.Form == model.Slice || f.Type.Form == model.Map {
		condition = w.file.Code("len($) != 0", m.holder.Value())
	}
	return w.file.Code("func(obj *$) bool { return obj != nil && $ }", w.file.Type(t), condition)
}

func (w *writer) discriminator(t *model.Type, f *model.Field) jen.Code {
	none, value := "obj == nil", "obj."+f.Name
	if f.Type.Form == model.Pointer {
		none, value = none+" || "+value+" == nil", "*"+value
	}
	return w.file.Code("func(obj *$) string {\nif "+none+" {\nreturn \"\"\n}\nreturn string("+value+")\n}",
		w.file.Type(t))
}

// dependents returns the checks of the siblings that a field requires or forbids.
func (w *writer) dependents(parent value, m member) []jen.Code {
	functions := map[model.Check]string{model.DependentRequired: "DependentRequired",
		model.DependentForbidden: "DependentForbidden"}
	var code []jen.Code
	for _, r := range m.field.Schema.Rules {
		sibling := check.FieldByJSON(parent.typ, r.Text)
		if functions[r.Check] != "" && sibling != nil && parent.self {
			code = append(code, w.check(parent, functions[r.Check], jen.Id("obj"), jen.Id("oldObj"),
				jen.Lit(m.field.JSON), w.isSet(parent.typ, m.field),
				jen.Lit(sibling.JSON), w.isSet(parent.typ, sibling)))
		}
	}
	return code
}

// modes returns the checks of a field for each value of its discriminator. Under a value without a rule, the field must
// be absent.
func (w *writer) modes(parent value, m member) []jen.Code {
	var code []jen.Code
	done := map[string]bool{}
	for _, first := range m.field.Schema.Modes {
		d := modeDiscriminator(parent.typ, first.Group)
		if done[first.Group] || d == nil || !parent.self {
			continue
		}
		done[first.Group] = true
		var cases []jen.Code
		for _, p := range m.field.Schema.Modes {
			if p.Group == first.Group {
				cases = append(cases, jen.Case(literal(p.Name, d.Type)).Block(w.mode(m, p)...))
			}
		}
		cases = append(cases, jen.Default().Block(w.forbidden(m)))
		changed := w.file.Code("oldObj == nil || obj."+d.Name+" != oldObj."+d.Name+" || $", w.differs(m.value))
		code = append(code, w.when(m, changed, w.file.Code("switch obj."+d.Name+" $", jen.Block(cases...))))
	}
	return code
}

func (w *writer) forbidden(m member) jen.Code {
	return w.ifThen(w.set(m, true), w.fail(m.value, "Forbidden", jen.Lit("")))
}

func (w *writer) mode(m member, p model.Part) []jen.Code {
	f := check.Subfield(m.field, p)
	content := append(w.content(m.value, &f.Schema), w.elements(m.value, &f.Schema)...)
	switch {
	case f.Schema.Rule(model.Forbidden) != nil:
		return []jen.Code{w.forbidden(m)}
	case check.Missing(f):
		none := w.ifThen(w.set(m, false), w.fail(m.value, "Required", jen.Lit("")))
		if len(content) > 0 {
			none = w.file.Code("$ else $", none, jen.Block(content...))
		}
		return []jen.Code{none}
	case len(content) == 0:
		return nil
	}
	return []jen.Code{w.ifThen(w.set(m, true), content...)}
}

func modeDiscriminator(t *model.Type, group string) *model.Field {
	for _, f := range t.Fields {
		for _, r := range f.Schema.Rules {
			if r.Check == model.ModeDiscriminator && r.Text == group && f.Type.Form == model.Basic {
				return f
			}
		}
	}
	return nil
}

// oneOf returns the check of how many of several fields are set, with the message of the CEL rule that controller-gen
// writes for the marker.
func (w *writer) oneOf(v value, r *model.Rule) []jen.Code {
	var set []jen.Code
	for _, name := range r.Values {
		f := check.FieldByJSON(v.typ, name)
		if f == nil {
			return nil
		}
		set = append(set, w.written(v, f))
	}
	wrong := "n != 1"
	switch {
	case r.Most < 0:
		wrong = "n < 1"
	case r.Least == 0:
		wrong = "n > 1"
	}
	return []jen.Code{w.ifThen(w.file.Code("n := "+w.common(countSet)+"($); "+wrong, jen.List(set...)),
		w.fail(v, "Invalid", jen.Lit("object"), jen.Lit(schema.OneOfMessage(r))))}
}

// properties returns the number of properties that the struct in v has on the wire.
func (w *writer) properties(v value) *jen.Statement {
	return w.file.Code(w.common(countSet)+"($)", jen.List(w.allWritten(v, nil)...))
}

// allWritten returns for each field of the struct in v, and of those that it inlines, the condition that JSON has it.
// around are the structs in which v is inlined.
func (w *writer) allWritten(v value, around []*model.Type) (set []jen.Code) {
	if slices.Contains(around, v.typ) {
		return nil
	}
	around = append(slices.Clip(around), v.typ)
	for _, f := range v.typ.Fields {
		switch {
		case f.Ignored || !check.Accessible(w.pkg, v.typ, f):
		case f.Inline && f.Type.Pointee().Form == model.Struct:
			m := w.member(v, f)
			m.value.typ = m.typ
			for _, inner := range w.allWritten(m.value, around) {
				if m.pointer {
					inner = w.file.Code("$ && ($)", w.set(m, true), inner)
				}
				set = append(set, inner)
			}
		case !f.Inline && f.JSON != "":
			set = append(set, w.written(v, f))
		}
	}
	return set
}

// written returns the condition that JSON has a field.
func (w *writer) written(v value, f *model.Field) *jen.Statement {
	text, _ := f.Type.Method("MarshalText") // net.IP writes "" where there is none
	always := f.Type.Form == model.Basic || f.Type.Form == model.Struct || f.Type.Form == model.Array || text != nil
	if always && f.Type.Form != model.Pointer && !w.checks.OmitsZero(f) {
		return jen.True()
	}
	return w.set(w.member(v, f), true)
}

// elementUnions checks which of the elements that unions name the list in v has.
func (w *writer) elementUnions(v value, s *model.Schema) []jen.Code {
	var code []jen.Code
	unions, keys := check.ElementUnions(v.typ, v.name, s)
	for _, u := range unions {
		code = append(code, w.union(v, u, v.place.Value(), w.oldList(v), func(element *model.Field) jen.Code {
			return w.hasElement(v.typ, keys[element])
		}))
	}
	return code
}

func (w *writer) hasElement(list *model.Type, keys []model.KeyValue) jen.Code {
	address, condition := "&", ""
	if list.Elem.Form == model.Pointer {
		address, condition = "", "item != nil && "
	}
	return w.file.Code("func(list $) bool {\nfor i := range list {\nif item := "+address+"list[i]; "+condition+"$ {\n"+
		"return true\n}\n}\nreturn false\n}", w.file.Type(list), w.selects(list.Elem.Pointee(), keys))
}

func (w *writer) selects(elem *model.Type, keys []model.KeyValue) jen.Code {
	all := jen.Null()
	for i, k := range keys {
		f := check.KeyField(elem, k.Key, 0)
		field := "item." + f.Name
		if f.Type.Form == model.Pointer {
			field = field + " != nil && *" + field
		}
		if i > 0 {
			field = " && " + field
		}
		all = w.file.Code("$"+field+" == $", all, literal(k.Value, f.Type.Pointee()))
	}
	return all
}
