package gocode

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

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
