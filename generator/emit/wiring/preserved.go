package wiring

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

// validatorOf is the validator of a version. Where its objects carry fields of the hub in an annotation, which a client
// can write as it likes, they must also keep the rules of the storage version, which has these fields.
func (p *printer) validatorOf(r *model.Resource, v model.ResourceVersion) jen.Code {
	own := p.validator(v.Type)
	serving := p.plan.Serving[r]
	if serving == nil || serving.Storage == nil {
		return own // of a payload, or of a kind without storage
	}
	stored := serving.Storage
	if stored.Type == v.Type || !p.plan.Preserves(v.Type, r.Hub) {
		return own
	}
	rules := p.checks(stored.Type, "to", "from")
	if rules == nil {
		return own
	}
	typ := pointer(stored.Type)
	preserved := jen.Qual(codecPath, "ValidatePreserved").Call(
		jen.Lit(plan.PreservedAnnotation), jen.Id("obj"), jen.Id("old"), p.toStorage(r, v, stored),
		jen.Func().Params(jen.List(jen.Id("to"), jen.Id("from")).Add(typ)).Qual(fieldPath, "ErrorList").
			Block(jen.Return(rules)))
	body := []jen.Code{jen.Return(preserved)}
	if checks := p.checks(v.Type, "obj", "old"); checks != nil {
		body = []jen.Code{
			jen.Id("errs").Op(":=").Add(checks),
			jen.Return(jen.Append(jen.Id("errs"), preserved.Op("..."))),
		}
	}
	return jen.Func().Params(
		jen.Id("ctx").Qual("context", "Context"), jen.Id("op").
			Qual(operationPath, "Operation"), jen.List(jen.Id("obj"), jen.Id("old")).Add(pointer(v.Type)),
	).Qual(fieldPath, "ErrorList").Block(body...)
}

// toStorage is a function from the version to the storage version.
func (p *printer) toStorage(r *model.Resource, v model.ResourceVersion, stored *model.ResourceVersion) jen.Code {
	scope := gocode.Scope(p.scoped)
	convert := func(f plan.Func, from, to string) *jen.Statement {
		return jen.Qual(f.Path, f.Name).Call(jen.Id(from), jen.Id(to), scope)
	}
	hub := jen.Id("hub").Op(":=").New(jen.Qual(r.Hub.Package.Path, r.Hub.Name))
	toHub := convert(p.converter(v, v.Type, r.Hub), "in", "hub")
	signature := jen.Func().Params(jen.Id("in").Add(pointer(v.Type))).Params(pointer(stored.Type), jen.Error())
	if stored.Type == r.Hub {
		return signature.Block(hub, jen.Return(jen.Id("hub"), toHub))
	}
	fromHub := convert(p.converter(*stored, r.Hub, stored.Type), "hub", "out")
	return signature.Block(
		hub,
		jen.If(jen.Err().Op(":=").Add(toHub), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Id("out").Op(":=").New(jen.Qual(stored.Type.Package.Path, stored.Type.Name)),
		jen.Return(jen.Id("out"), fromHub))
}
