package gocode

import (
	"fmt"
	"regexp"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

var placeholder = regexp.MustCompile(`\$|<([a-z0-9./]+)>\.(\w+)`)

// Code is source text of the file in which each $ stands for the next argument, and <encoding/json>.Marshal for a name
// of another package, which the file imports. An argument is code, a string to insert as it is, or a list of statements
// to write between the braces of a block: {$}. An argument is never a part of a longer name: Code puts spaces around
// it.
func (f *File) Code(text string, args ...any) *jen.Statement {
	out := &jen.Statement{}
	last := 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(text, -1) {
		out.Op(text[last:m[0]])
		last = m[1]
		if m[2] >= 0 {
			out.Add(f.Qual(text[m[2]:m[3]], text[m[4]:m[5]]))
			continue
		}
		switch arg := args[0].(type) {
		case string:
			out.Op(arg)
		case jen.Code:
			out.Add(arg)
		case []jen.Code:
			out.Custom(jen.Options{Multi: true}, arg...)
		default:
			panic(fmt.Sprintf("%T is no code", arg))
		}
		args = args[1:]
	}
	return out.Op(text[last:])
}

// PointerTo is the type *T, in files that import by jennifer's own rules.
func PointerTo(t *model.Type) *jen.Statement { return jen.Op("*").Qual(t.Package.Path, t.Name) }

// Constructor is a function that returns an empty T.
func Constructor(t *model.Type) jen.Code {
	return jen.Func().Params().Add(PointerTo(t)).Block(jen.Return(jen.New(jen.Qual(t.Package.Path, t.Name))))
}

// Converter is a function from one type to another, by way of two pointers, that calls f. Where the conversions are
// scoped it uses the variable scope.
func Converter(f plan.Func, p plan.Pair, scoped bool) jen.Code {
	return jen.Func().Params(jen.Id("in").Add(PointerTo(p.In)), jen.Id("out").Add(PointerTo(p.Out))).Error().Block(
		jen.Return(jen.Qual(f.Path, f.Name).Call(jen.Id("in"), jen.Id("out"), Scope(scoped))))
}

// Scope is the conversion.Scope that conversion functions get: the variable scope, or nil where nothing asks for it.
func Scope(scoped bool) jen.Code {
	if scoped {
		return jen.Id("scope")
	}
	return jen.Nil()
}
