package conversion

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/plan"
)

// initFunc registers RegisterConversions with the package's scheme builder, as the convention of API packages asks.
func initFunc(builder string) jen.Code {
	return jen.Func().Id("init").Params().Block(jen.Id(builder).Dot("Register").Call(jen.Id("RegisterConversions")))
}

// register writes RegisterConversions: what is generated for the package's own types first, what is written by hand,
// and wins, after it.
func (w *writer) register() jen.Code {
	var body []jen.Code
	for _, c := range w.plan.Functions {
		if c.Public && !c.ByHand {
			body = append(body, w.registration("AddGeneratedConversionFunc", c.Pair, c.Name))
		}
	}
	for _, q := range w.plan.FromQuery {
		if !q.ByHand {
			body = append(body, w.registration("AddGeneratedConversionFunc", q.Pair, q.Pair.Function()))
		}
	}
	for _, fn := range w.plan.ByHand {
		body = append(body, w.registration("AddConversionFunc", fn.Pair, fn.Name))
	}
	body = append(body, jen.Return(jen.Nil()))
	return jen.Func().Id("RegisterConversions").Params(
		jen.Id("s").Op("*").Add(w.file.Qual(runtimePath, "Scheme")),
	).Error().Block(body...)
}

func (w *writer) registration(method string, p plan.Pair, name string) jen.Code {
	pointer := func(of jen.Code) *jen.Statement { return jen.Parens(jen.Op("*").Add(of)) }
	in, out := w.file.Type(p.In), w.file.Type(p.Out)
	if p.In.Package != nil && p.In.Package.Path == valuesPath {
		in = w.file.Qual(valuesPath, "Values")
	}
	convert := jen.Func().Params(
		jen.List(jen.Id("a"), jen.Id("b")).Id("any"),
		jen.Id("scope").Add(w.file.Qual(conversionPath, "Scope")),
	).Error().Block(jen.Return(jen.Id(name).Call(
		jen.Id("a").Assert(jen.Op("*").Add(in)), jen.Id("b").Assert(jen.Op("*").Add(out)), jen.Id("scope"),
	)))
	return jen.If(
		jen.Err().Op(":=").Id("s").Dot(method).Call(
			pointer(in).Call(jen.Nil()), pointer(out).Call(jen.Nil()), convert),
		jen.Err().Op("!=").Nil(),
	).Block(jen.Return(jen.Err()))
}
