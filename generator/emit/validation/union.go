package validation

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
	"apigen.dev/generator/schema"
)

// unions returns the unions of a struct by name, zero-or-one-of unions last.
func unions(t *model.Type) schema.Unions { return checked(schema.UnionsOf(t)) }

// subfieldUnions returns the unions that the markers of a place make of fields of its struct.
func subfieldUnions(t *model.Type, s *model.Schema) schema.Unions {
	var found schema.Unions
	for _, p := range s.Subfields {
		if f := fieldByJSON(t, p.Name); f != nil {
			found.Add(f, p.Schema.Rules)
		}
	}
	return checked(found)
}

// checked returns the unions whose members can be absent, sorted.
func checked(found schema.Unions) schema.Unions {
	always := func(f *model.Field) bool { return f.Type.Form == model.Struct || f.JSON == "" }
	out := slices.DeleteFunc(found, func(u *schema.Union) bool {
		return len(u.Members) == 0 || slices.ContainsFunc(u.Members, always)
	})
	slices.SortFunc(out, func(a, b *schema.Union) int {
		if a.ZeroOrOne != b.ZeroOrOne {
			return map[bool]int{true: 1, false: -1}[a.ZeroOrOne]
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// unions returns the checks of the unions of the struct in v.
func (w *writer) unions(v value) []jen.Code {
	var code []jen.Code
	for _, u := range unions(v.typ) {
		code = append(code, w.fieldUnion(v, u))
	}
	return code
}

// fieldUnion checks which fields of the struct in v are set.
func (w *writer) fieldUnion(v value, u *schema.Union) jen.Code {
	return w.union(v, u, jen.Id("obj"), jen.Id("oldObj"), func(f *model.Field) jen.Code { return w.isSet(v.typ, f) })
}

// union calls apimachinery's check of a union in obj, where isSet returns the function that tells whether a member is
// set.
func (w *writer) union(v value, u *schema.Union, obj, old jen.Code, isSet func(*model.Field) jen.Code) jen.Code {
	function, constructor, member := "Union", "NewUnionMembership", "NewUnionMember"
	doc := "are the fields of which one is set."
	var members, set []jen.Code
	switch d := u.Discriminator; {
	case u.ZeroOrOne:
		function = "ZeroOrOneOfUnion"
	case d != nil:
		function, constructor = "DiscriminatedUnion", "NewDiscriminatedUnionMembership"
		member = "NewDiscriminatedUnionMember"
		members, set = []jen.Code{jen.Lit(d.JSON)}, []jen.Code{w.discriminator(v.typ, d)}
	}
	for i, f := range u.Members {
		args := []jen.Code{jen.Lit(f.JSON)}
		if u.Discriminator != nil {
			args = append(args, jen.Lit(u.Values[i]))
		}
		members = append(members, w.file.Qual(validatePath, member).Call(args...))
		set = append(set, isSet(f))
	}
	if v.typ.Form == model.Slice {
		doc = "are the elements of which one is there."
	}
	name := w.declare(v.label+"Union", doc, w.file.Qual(validatePath, constructor).Call(members...))
	args := append([]jen.Code{jen.Id("ctx"), jen.Id("op"), jen.Id(v.path), obj, old, jen.Id(name)}, set...)
	return w.add(w.file.Qual(validatePath, function).Custom(jen.Options{Open: "(", Close: ")", Separator: ",",
		Multi: true}, args...))
}

// isSet returns the function that reports whether a struct's field is set.
func (w *writer) isSet(t *model.Type, f *model.Field) jen.Code {
	m := w.member(self(t, ""), f)
	condition := w.set(m, true)
	if f.Type.Form == model.Slice || f.Type.Form == model.Map {
		condition = jen.Len(m.holder.Value()).Op("!=").Lit(0)
	}
	return expression(jen.Params(jen.Id("obj").Op("*").Add(w.file.Type(t))).Bool(),
		jen.Id("obj").Op("!=").Nil().Op("&&").Add(condition))
}

// discriminator returns the function that returns the value of a struct's discriminator.
func (w *writer) discriminator(t *model.Type, f *model.Field) jen.Code {
	body := []jen.Code{jen.If(jen.Id("obj").Op("==").Nil()).Block(jen.Return(jen.Lit(""))),
		jen.Return(jen.String().Call(jen.Id("obj").Dot(f.Name)))}
	if f.Type.Form == model.Pointer {
		body = []jen.Code{
			jen.If(jen.Id("obj").Op("==").Nil().Op("||").Id("obj").Dot(f.Name).Op("==").Nil()).
				Block(jen.Return(jen.Lit(""))),
			jen.Return(jen.String().Call(jen.Op("*").Id("obj").Dot(f.Name))),
		}
	}
	return jen.Func().Params(jen.Id("obj").Op("*").Add(w.file.Type(t))).String().Block(body...)
}

// dependents returns the checks of the siblings that a field requires or forbids.
func (w *writer) dependents(parent value, m member) []jen.Code {
	var code []jen.Code
	for i := range m.field.Schema.Rules {
		r := &m.field.Schema.Rules[i]
		name := map[model.Check]string{model.DependentRequired: "DependentRequired",
			model.DependentForbidden: "DependentForbidden"}[r.Check]
		sibling := fieldByJSON(parent.typ, r.Text)
		if name == "" || sibling == nil || !parent.self {
			continue
		}
		code = append(code, w.add(w.file.Qual(validatePath, name).Call(jen.Id("ctx"), jen.Id("op"),
			jen.Id(parent.path), jen.Id("obj"), jen.Id("oldObj"),
			jen.Lit(m.field.JSON), w.isSet(parent.typ, m.field), jen.Lit(sibling.JSON), w.isSet(parent.typ, sibling))))
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
		cases = append(cases, jen.Default().Block(jen.If(w.set(m, true)).Block(w.fail(m.value, "Forbidden",
			jen.Lit("")))))
		changed := jen.Id("oldObj").Op("==").Nil().Op("||").
			Id("obj").Dot(d.Name).Op("!=").Id("oldObj").Dot(d.Name).Op("||").Add(w.differs(m.value))
		code = append(code, w.when(m, changed, jen.Switch(jen.Id("obj").Dot(d.Name)).Block(cases...)))
	}
	return code
}

// mode returns the checks of a field under one value of its discriminator.
func (w *writer) mode(m member, p model.Part) []jen.Code {
	f := subfield(m.field, p)
	content := append(w.content(m.value, &f.Schema), w.elements(m.value, &f.Schema)...)
	switch {
	case f.Schema.Rule(model.Forbidden) != nil:
		return []jen.Code{jen.If(w.set(m, true)).Block(w.fail(m.value, "Forbidden", jen.Lit("")))}
	case missing(f):
		none := jen.If(w.set(m, false)).Block(w.fail(m.value, "Required", jen.Lit("")))
		if len(content) > 0 {
			none.Else().Block(content...)
		}
		return []jen.Code{none}
	case len(content) == 0:
		return nil
	}
	return []jen.Code{jen.If(w.set(m, true)).Block(content...)}
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
	count, ok := w.count(v, r.Values)
	if !ok {
		return nil
	}
	what, condition := "exactly", jen.Id("n").Op("!=").Lit(1)
	switch {
	case r.Most < 0:
		what, condition = "at least", jen.Id("n").Op("<").Lit(1)
	case r.Least == 0:
		what, condition = "at most", jen.Id("n").Op(">").Lit(1)
	}
	message := what + " one of the fields in " + bracketed(r.Values) + " must be set"
	if what == "at most" {
		message = what + " one of the fields in " + bracketed(r.Values) + " may be set"
	}
	return []jen.Code{jen.If(jen.Id("n").Op(":=").Add(count), condition).Block(w.fail(v, "Invalid",
		jen.Lit("object"), jen.Lit(message)))}
}

// properties returns the number of properties that the struct in v has on the wire.
func (w *writer) properties(v value) *jen.Statement {
	var args []jen.Code
	for _, f := range v.typ.Fields {
		if f.Ignored || f.Inline || f.JSON == "" || !accessible(w.pkg, v.typ, f) {
			continue
		}
		if !f.OmitEmpty || f.Type.Form == model.Struct && !omitsZero(f) {
			args = append(args, jen.True())
			continue
		}
		args = append(args, w.set(w.member(v, f), true))
	}
	return w.common(countSet).Call(args...)
}

func (w *writer) count(v value, names []string) (*jen.Statement, bool) {
	var args []jen.Code
	for _, name := range names {
		f := fieldByJSON(v.typ, name)
		if f == nil {
			return nil, false
		}
		args = append(args, w.set(w.member(v, f), true))
	}
	return w.common(countSet).Call(args...), true
}

// bracketed returns a list as in controller-gen's message.
func bracketed(names []string) string { return "[" + strings.Join(names, " ") + "]" }
