package conversion

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/plan"
)

const valuesPath = "net/url"

// query writes the conversion of a request's query to options.
func (w *writer) query(q *plan.QueryConversion) {
	var body []jen.Code
	for _, p := range q.Parameters {
		target := gocode.Variable(p.Path).Field(p.Field.Name)
		body = append(body, w.file.Code(`if values, ok := map[string][]string(*in)[$]; ok && len(values) > 0 {$} else {$}`,
			jen.Lit(p.Field.JSON), w.parameter(p, target), one(target.Set(w.zero(p.Field.Type)))))
	}
	w.pair(q.Pair.Function(), q.Pair, q.ByHand, append(body, jen.Return(jen.Nil())))
}

// parameter sets a field from the values of its parameter.
func (w *writer) parameter(p plan.Parameter, target gocode.Place) []jen.Code {
	if !p.First {
		return w.move(p.Move, gocode.Variable("values"), target)
	}
	first := jen.Id("values").Index(jen.Lit(0))
	if p.Field.Type.Package != nil {
		first = w.file.Type(p.Field.Type).Call(first)
	}
	return one(target.Set(first))
}
