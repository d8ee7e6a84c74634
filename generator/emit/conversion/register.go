package conversion

import (
	"sort"

	"github.com/dave/jennifer/jen"
)

// initFunc registers RegisterConversions with the package's scheme builder, as the convention of API packages asks.
func initFunc(builder string) jen.Code {
	return jen.Func().Id("init").Params().Block(jen.Id(builder).Dot("Register").Call(jen.Id("RegisterConversions")))
}

// register writes RegisterConversions: what is generated for the package's own types first, what is written by hand, and
// wins, after it.
func (b *build) register() jen.Code {
	var body []jen.Code
	for _, p := range b.pairs {
		if b.concerned(p) && b.funcs.find(p) == nil {
			body = append(body, b.registration("AddGeneratedConversionFunc", p, b.names[p.key()]))
		}
	}
	for _, t := range b.explicit {
		p := pair{valuesType(), t}
		if b.funcs.find(p) == nil {
			body = append(body, b.registration("AddGeneratedConversionFunc", p, p.function()))
		}
	}
	own := append([]*function(nil), b.funcs.own...)
	sort.Slice(own, func(i, j int) bool { return own[i].name < own[j].name })
	for _, fn := range own {
		body = append(body, b.registration("AddConversionFunc", fn.pair, fn.name))
	}
	body = append(body, jen.Return(jen.Nil()))
	return jen.Func().Id("RegisterConversions").Params(
		jen.Id("s").Op("*").Add(b.file.Qual(runtimePath, "Scheme")),
	).Error().Block(body...)
}

func (b *build) registration(method string, p pair, name string) jen.Code {
	pointer := func(of jen.Code) *jen.Statement { return jen.Parens(jen.Op("*").Add(of)) }
	in, out := b.file.Type(p.in), b.file.Type(p.out)
	if p.in.Package != nil && p.in.Package.Path == valuesPath {
		in = b.file.Qual(valuesPath, "Values")
	}
	convert := jen.Func().Params(
		jen.List(jen.Id("a"), jen.Id("b")).Id("any"),
		jen.Id("scope").Add(b.file.Qual(conversionPath, "Scope")),
	).Error().Block(jen.Return(jen.Id(name).Call(
		jen.Id("a").Assert(jen.Op("*").Add(in)), jen.Id("b").Assert(jen.Op("*").Add(out)), jen.Id("scope"),
	)))
	return jen.If(
		jen.Err().Op(":=").Id("s").Dot(method).Call(
			pointer(in).Call(jen.Nil()), pointer(out).Call(jen.Nil()), convert),
		jen.Err().Op("!=").Nil(),
	).Block(jen.Return(jen.Err()))
}
