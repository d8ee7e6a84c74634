package wiring

import (
	"github.com/dave/jennifer/jen"
)

// helpers prints the few functions that the rest of the file calls.
func (p *printer) helpers(f *jen.File) {
	if p.textual {
		printJSONCell(f)
	}
	if p.dated {
		printDateCell(f)
	}
	if p.selecting {
		printSelectorText(f)
	}
	if p.scoped {
		printScope(f)
	}
}

// printJSONCell prints the function that makes a cell of anything by way of its JSON.
func printJSONCell(f *jen.File) {
	none := jen.Return(jen.Qual(apiPath, "Cell").Values())
	f.Comment("jsonCell shows a value as its JSON, without the quotes where that is a string.")
	f.Func().Id("jsonCell").Params(jen.Id("value").Any()).Qual(apiPath, "Cell").Block(
		jen.List(jen.Id("data"), jen.Err()).Op(":=").Qual("encoding/json", "Marshal").Call(jen.Id("value")),
		jen.If(jen.Err().Op("!=").Nil().Op("||").String().Call(jen.Id("data")).Op("==").Lit("null")).Block(none),
		jen.Var().Id("text").String(),
		jen.If(jen.Qual("encoding/json", "Unmarshal").Call(jen.Id("data"), jen.Op("&").Id("text")).Op("==").Nil()).
			Block(
				jen.Return(jen.Qual(apiPath, "Text").Call(jen.Id("text")))),
		jen.Return(jen.Qual(apiPath, "Text").Call(jen.String().Call(jen.Id("data")))),
	)
}

// printDateCell prints the function that makes an age of text.
func printDateCell(f *jen.File) {
	f.Comment("dateCell shows the time since a date in text.")
	f.Func().Id("dateCell").Params(jen.Id("text").String()).Qual(apiPath, "Cell").Block(
		jen.List(jen.Id("date"), jen.Err()).Op(":=").Qual("time", "Parse").
			Call(jen.Qual("time", "RFC3339"), jen.Id("text")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Qual(apiPath, "Cell").Values())),
		jen.Return(jen.Qual(apiPath, "Age").Call(jen.Id("date"))),
	)
}

// printScope prints the conversion.Scope that hand-written conversion functions get. Generated functions call each
// other and hand the scope on; a hand-written one may ask it to convert a member, which takes a scheme.
func printScope(f *jen.File) {
	scheme := jen.Op("*").Qual(runtimePath, "Scheme")
	f.Comment("groupScope lets conversion functions convert what they hold: it looks functions up in a scheme of the " +
		"group, which is")
	f.Comment("made when one is first asked for.")
	f.Type().Id("groupScope").Struct(jen.Id("scheme").Func().Params().Params(scheme.Clone(), jen.Error()))
	f.Func().Id("newScope").Params().Qual(conversionPath, "Scope").Block(
		jen.Return(jen.Id("groupScope").Values(jen.Id("scheme").Op(":").Qual("sync", "OnceValues").Call(
			jen.Func().Params().Params(scheme.Clone(), jen.Error()).Block(
				jen.Id("scheme").Op(":=").Qual(runtimePath, "NewScheme").Call(),
				jen.Return(jen.Id("scheme"), jen.Id("AddToScheme").Call(jen.Id("scheme"))),
			)))))
	f.Comment("Convert converts from one object to another, both pointers.")
	f.Func().Params(jen.Id("s").Id("groupScope")).Id("Convert").Params(jen.List(jen.Id("from"), jen.Id("to")).Any()).
		Error().Block(
		jen.List(jen.Id("scheme"), jen.Err()).Op(":=").Id("s").Dot("scheme").Call(),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err())),
		jen.Return(jen.Id("scheme").Dot("Convert").Call(jen.Id("from"), jen.Id("to"), jen.Nil())),
	)
	f.Comment("Meta is empty: there is no context beyond the objects.")
	f.Func().Params(jen.Id("groupScope")).Id("Meta").Params().Op("*").Qual(conversionPath, "Meta").Block(
		jen.Return(jen.Op("&").Qual(conversionPath, "Meta").Values()))
}
