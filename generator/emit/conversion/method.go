package conversion

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
)

// byMethod returns the call of the hand-written method that converts the pair, or nil: by controller-runtime's convention
// a hub has a method Hub, and its spokes have ConvertTo and ConvertFrom.
func byMethod(p pair) jen.Code {
	switch {
	case converts(p.in, "ConvertTo") && isHub(p.out):
		return jen.Id("in").Dot("ConvertTo").Call(jen.Id("out"))
	case converts(p.out, "ConvertFrom") && isHub(p.in):
		return jen.Id("out").Dot("ConvertFrom").Call(jen.Id("in"))
	}
	return nil
}

func converts(t *model.Type, method string) bool {
	m := t.Methods[method]
	return m != nil && len(m.Params) == 1 && m.Params[0].Form == model.Interface && len(m.Results) == 1 && isError(m.Results[0])
}

func isHub(t *model.Type) bool {
	m := t.Methods["Hub"]
	return m != nil && len(m.Params) == 0 && len(m.Results) == 0
}
