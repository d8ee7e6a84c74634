package validation

import (
	"encoding/json"
	"strconv"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
	"apigen.dev/generator/schema"
)

// content returns the checks of a value that don't depend on the old one.
func (w *writer) content(v value, s *model.Schema) []jen.Code {
	var code []jen.Code
	for i := range s.Rules {
		r := &s.Rules[i]
		if r.Check == model.Immutable || r.Check == model.Update || !w.graph.applies(r, v.typ) {
			continue
		}
		code = append(code, w.rule(v, s, r)...)
	}
	return code
}

// rule returns the check of one rule. For Kubernetes' own grammar it calls apimachinery's function; for
// controller-gen's it is the check that a custom resource's schema implies. The errors have kube-apiserver's words.
func (w *writer) rule(v value, s *model.Schema, r *model.Rule) []jen.Code {
	if half := halfOf(r, v.typ); half != nil {
		kind, member := "Int", "IntVal"
		if half == plainString {
			kind, member = "String", "StrVal"
		}
		of := v.place.Field("Type").Value().Op("==").Add(w.file.Qual(intstrPath, kind))
		v.typ, v.place, v.pointer = half, v.place.Field(member), false
		return []jen.Code{jen.If(of).Block(w.rule(v, s, r)...)}
	}
	if function := declarative[r.Check]; r.Declarative && function != "" && !isFloat(v.typ) {
		operand := v.place.Address()
		if v.typ.Form != model.Basic {
			operand = v.place.Value()
		}
		return []jen.Code{w.check(v, function, operand, jen.Nil(), jen.Id(number(r.Text)))}
	}
	switch r.Check {
	case model.Minimum, model.Maximum, model.MinLength, model.MaxLength, model.MinItems, model.MaxItems,
		model.MinProperties, model.MaxProperties:
		return w.limit(v, r)
	case model.MultipleOf:
		return w.multiple(v, number(r.Text))
	case model.Pattern:
		return w.pattern(v, r.Text)
	case model.Format:
		return w.format(v, r.Text)
	case model.Enum:
		return w.enum(v, r)
	case model.NotEqual:
		return []jen.Code{w.check(v, "NEQ", v.place.Address(), jen.Nil(), literal(r.Text, v.typ))}
	case model.Monotonic:
		return []jen.Code{w.check(v, "Monotonic", v.place.Address(), w.oldAddress(v))}
	case model.Unique:
		return w.unique(v, s, r)
	case model.OneOf:
		return w.oneOf(v, r)
	}
	return nil
}

// declarative are apimachinery's functions for the limits of Kubernetes' own grammar.
var declarative = map[model.Check]string{
	model.Minimum: "Minimum", model.Maximum: "Maximum",
	model.MinLength: "MinLength", model.MaxLength: "MaxLength", model.MaxBytes: "MaxBytes",
	model.MinItems: "MinItems", model.MaxItems: "MaxItems",
	model.MinProperties: "MinProperties", model.MaxProperties: "MaxProperties",
}

// inBody returns the message of a custom resource's schema about the value.
func inBody(v value, what string) *jen.Statement {
	return jen.Id(v.path).Dot("String").Call().Op("+").Lit(" in body " + what)
}

// refuse returns the check that a condition doesn't hold.
func (w *writer) refuse(v value, condition *jen.Statement, what string) []jen.Code {
	return []jen.Code{jen.If(condition).Block(w.fail(v, "Invalid", v.place.Value(), inBody(v, what)))}
}

// limit checks a number, or the size of text, a list, a map or a struct.
func (w *writer) limit(v value, r *model.Rule) []jen.Code {
	n := number(r.Text)
	switch r.Check {
	case model.Minimum:
		if r.Exclusive {
			return w.refuse(v, v.place.Value().Op("<=").Id(n), "should be greater than "+n)
		}
		return w.refuse(v, v.place.Value().Op("<").Id(n), "should be greater than or equal to "+n)
	case model.Maximum:
		if r.Exclusive {
			return w.refuse(v, v.place.Value().Op(">=").Id(n), "should be less than "+n)
		}
		return w.refuse(v, v.place.Value().Op(">").Id(n), "should be less than or equal to "+n)
	case model.MinLength:
		return w.refuse(v, w.length(v).Op("<").Id(n), "should be at least "+n+" chars long")
	case model.MaxLength:
		return []jen.Code{jen.If(w.length(v).Op(">").Id(n)).Block(w.fail(v, "TooLong", jen.Lit(""), jen.Id(n)))}
	}
	size := jen.Len(v.place.Value())
	if v.typ.Form == model.Struct {
		size = w.properties(v)
	}
	unit, op := "items", "<"
	switch r.Check {
	case model.MaxItems, model.MaxProperties:
		op = ">"
	case model.MinProperties:
		unit = "properties"
	}
	refused := w.fail(v, "Invalid", jen.Id("n"), inBody(v, "should have at least "+n+" "+unit))
	if op == ">" {
		refused = w.fail(v, "TooMany", jen.Id("n"), jen.Id(n))
	}
	return []jen.Code{jen.If(jen.Id("n").Op(":=").Add(size), jen.Id("n").Op(op).Id(n)).Block(refused)}
}

// multiple checks that a number is a multiple of another.
func (w *writer) multiple(v value, of string) []jen.Code {
	message := "should be a multiple of " + of
	if integer(v.typ) {
		return w.refuse(v, v.place.Value().Op("%").Id(of).Op("!=").Lit(0), message)
	}
	quotient := jen.Id("q").Op(":=").Float64().Call(v.place.Value()).Op("/").Id(of)
	rounded := w.file.Qual("math", "Round").Call(jen.Id("q"))
	distance := w.file.Qual("math", "Abs").Call(jen.Id("q").Op("-").Add(rounded))
	return []jen.Code{jen.If(quotient, distance.Op(">").Id("1e-9")).Block(
		w.fail(v, "Invalid", v.place.Value(), inBody(v, message)))}
}

// enum checks that the value is one of several.
func (w *writer) enum(v value, r *model.Rule) []jen.Code {
	var cases, known []jen.Code
	element := w.file.Type(v.typ)
	if r.Declarative {
		for _, c := range schema.ConstantsByValue(v.typ) {
			cases = append(cases, w.file.PackageQual(v.typ.Package, c.Name))
		}
		known = cases
	} else {
		for _, text := range r.Values {
			var s string
			if isString(v.typ) && json.Unmarshal([]byte(text), &s) == nil {
				cases, known = append(cases, jen.Lit(s)), append(known, jen.Lit(s))
			} else if integer(v.typ) && integral(text) {
				cases, known = append(cases, jen.Id(number(text))), append(known, jen.Lit(number(text)))
				element = jen.String()
			}
		}
	}
	if len(cases) == 0 {
		return nil
	}
	return []jen.Code{jen.Switch(v.place.Value()).Block(
		jen.Case(unique(cases, known)...),
		jen.Default().Block(w.fail(v, "NotSupported", v.place.Value(), jen.Index().Add(element).Values(known...))),
	)}
}

// unique drops duplicate cases, which the compiler refuses.
func unique(cases, known []jen.Code) []jen.Code {
	seen := map[string]bool{}
	var out []jen.Code
	for i, c := range cases {
		text := jen.Add(known[i]).GoString()
		if !seen[text] {
			seen[text] = true
			out = append(out, c)
		}
	}
	return out
}

// literal returns a value as a Go literal.
func literal(text string, t *model.Type) jen.Code {
	switch {
	case isString(t):
		return jen.Lit(text)
	case t.Basic == "bool":
		b, _ := strconv.ParseBool(text)
		return jen.Lit(b)
	}
	return jen.Id(number(text))
}
