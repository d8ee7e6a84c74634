package validation

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan/check"
	"apigen.dev/generator/internal/schema"
)

// content returns the checks of a value that don't depend on the old one.
func (w *writer) content(v value, s *model.Schema) []jen.Code {
	var code []jen.Code
	for i := range s.Rules {
		r := &s.Rules[i]
		if r.Check == model.Immutable || r.Check == model.Update || !w.checks.Applies(r, v.typ) {
			continue
		}
		code = append(code, w.rule(v, s, r)...)
	}
	return code
}

// rule returns the check of one rule. For Kubernetes' own grammar it calls apimachinery's function; for
// controller-gen's it is the check that a custom resource's schema implies. The errors have kube-apiserver's words.
func (w *writer) rule(v value, s *model.Schema, r *model.Rule) []jen.Code {
	if half := check.HalfOf(r, v.typ); half != nil {
		kind, member := "Int", "IntVal"
		if half == check.PlainString {
			kind, member = "String", "StrVal"
		}
		of := v.place.Field("Type").Value()
		v.typ, v.place, v.pointer = half, v.place.Field(member), false
		return []jen.Code{w.ifThen(w.file.Code("$ == intstr."+kind, of), w.rule(v, s, r)...)}
	}
	if function := declarative[r.Check]; r.Declarative && function != "" && !check.IsFloat(v.typ) {
		operand := v.place.Address()
		if v.typ.Form != model.Basic {
			operand = v.place.Value()
		}
		return []jen.Code{w.check(v, function, operand, jen.Nil(), jen.Id(check.Number(r.Text)))}
	}
	if limit, ok := limits[r.Check]; ok {
		return w.limit(v, r, limit)
	}
	switch r.Check {
	case model.MultipleOf:
		return w.multiple(v, check.Number(r.Text))
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
func (w *writer) inBody(v value, what string) *jen.Statement {
	return w.file.Code(v.path+".String() + $", jen.Lit(" in body "+what))
}

func (w *writer) refuse(v value, condition jen.Code, what string) []jen.Code {
	return []jen.Code{w.ifThen(condition, w.fail(v, "Invalid", v.place.Value(), w.inBody(v, what)))}
}

// limit is the check of a bound by controller-gen's grammar: the operator by which a value is out of bounds, that of an
// exclusive bound, what is wrong then with %s for the bound, and where that is not about the value, the constructor of
// the error.
type limit struct {
	op, exclusive string
	what          string
	constructor   string
}

var limits = map[model.Check]limit{
	model.Minimum:       {"<", "<=", "should be greater than or equal to %s", ""},
	model.Maximum:       {">", ">=", "should be less than or equal to %s", ""},
	model.MinLength:     {"<", "", "should be at least %s chars long", ""},
	model.MaxLength:     {">", "", "", "TooLong"},
	model.MinItems:      {"<", "", "should have at least %s items", "Invalid"},
	model.MinProperties: {"<", "", "should have at least %s properties", "Invalid"},
	model.MaxItems:      {">", "", "", "TooMany"},
	model.MaxProperties: {">", "", "", "TooMany"},
}

func (w *writer) limit(v value, r *model.Rule, l limit) []jen.Code {
	n := check.Number(r.Text)
	switch r.Check {
	case model.Minimum, model.Maximum:
		if r.Exclusive {
			l.op, l.what = l.exclusive, strings.Replace(l.what, " or equal to", "", 1)
		}
		return w.refuse(v, w.file.Code("$ "+l.op+" "+n, v.place.Value()), fmt.Sprintf(l.what, n))
	case model.MinLength:
		return w.refuse(v, w.file.Code("$ "+l.op+" "+n, w.length(v)), fmt.Sprintf(l.what, n))
	case model.MaxLength:
		return []jen.Code{w.ifThen(w.file.Code("$ > "+n, w.length(v)),
			w.fail(v, l.constructor, jen.Lit(""), jen.Id(n)))}
	}
	size := w.file.Code("len($)", v.place.Value())
	if v.typ.Form == model.Struct {
		size = w.properties(v)
	}
	reason := jen.Id(n)
	if l.what != "" {
		reason = w.inBody(v, fmt.Sprintf(l.what, n))
	}
	return []jen.Code{w.ifThen(w.file.Code("n := $; n "+l.op+" "+n, size),
		w.fail(v, l.constructor, jen.Id("n"), reason))}
}

func (w *writer) multiple(v value, of string) []jen.Code {
	message := "should be a multiple of " + of
	if model.IsInteger(v.typ) {
		return w.refuse(v, w.file.Code("$%"+of+" != 0", v.place.Value()), message)
	}
	return w.refuse(v, w.file.Code("q := float64($) / "+of+"; math.Abs(q-math.Round(q)) > 1e-9", v.place.Value()),
		message)
}

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
			if model.IsString(v.typ) && json.Unmarshal([]byte(text), &s) == nil {
				cases, known = append(cases, jen.Lit(s)), append(known, jen.Lit(s))
			} else if model.IsInteger(v.typ) && check.Integral(text) {
				cases, known = append(cases, jen.Id(check.Number(text))), append(known, jen.Lit(check.Number(text)))
				element = jen.String()
			}
		}
	}
	if len(cases) == 0 {
		return nil
	}
	return []jen.Code{w.file.Code("switch $ {\ncase $:\ndefault:\n$\n}", v.place.Value(),
		jen.List(unique(cases, known)...),
		w.fail(v, "NotSupported", v.place.Value(), w.file.Code("[]$$", element, jen.Values(known...))))}
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

func literal(text string, t *model.Type) jen.Code {
	switch {
	case model.IsString(t):
		return jen.Lit(text)
	case t.Basic == "bool":
		b, _ := strconv.ParseBool(text)
		return jen.Lit(b)
	}
	return jen.Id(check.Number(text))
}

// length returns the number of characters of the value's JSON.
func (w *writer) length(v value) *jen.Statement {
	if v.typ.IsBytes() {
		return w.file.Code("base64.StdEncoding.EncodedLen(len($))", v.place.Value())
	}
	return w.file.Code("utf8.RuneCountInString($)", w.string(v))
}

func (w *writer) string(v value) *jen.Statement {
	if v.typ.Name == "" {
		return v.place.Value()
	}
	return w.file.Code("string($)", v.place.Value())
}

// pattern checks that a pattern, which a variable holds, matches.
func (w *writer) pattern(v value, pattern string) []jen.Code {
	name, ok := w.patterns[pattern]
	if !ok {
		name = w.declare(v.label+"Pattern", "", w.file.Code("regexp.MustCompile($)", rawString(pattern)))
		w.patterns[pattern] = name
	}
	return w.refuse(v, w.file.Code("!"+name+".MatchString($)", w.string(v)), "should match '"+pattern+"'")
}

// rawString is a string literal in back quotes if it can be.
func rawString(s string) jen.Code {
	for _, r := range s {
		if r == '`' || r < ' ' {
			return jen.Lit(s)
		}
	}
	return jen.Op("`" + s + "`")
}

// format checks a format of Kubernetes' own grammar by apimachinery's function, and another one by that which checks
// custom resources.
func (w *writer) format(v value, name string) []jen.Code {
	if function := check.Formats[name]; function != "" {
		return []jen.Code{w.check(v, function, v.place.Address(), jen.Nil())}
	}
	condition := w.file.Code("!strfmt.Default.Validates($, $)", jen.Lit(name), w.string(v))
	return []jen.Code{w.ifThen(condition, w.fail(v, "TypeInvalid", v.place.Value(),
		w.file.Code("$ + strconv.Quote($)", w.inBody(v, "must be of type "+name+": "), w.string(v))))}
}
