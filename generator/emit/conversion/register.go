package conversion

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/plan"
)

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
	return w.file.Code("func RegisterConversions(s *<k8s.io/apimachinery/pkg/runtime>.Scheme) error {$}", body)
}

func (w *writer) registration(method string, p plan.Pair, name string) jen.Code {
	in, out := w.file.Type(p.In), w.file.Type(p.Out)
	if p.In.Package != nil && p.In.Package.Path == valuesPath {
		in = w.file.Qual(valuesPath, "Values")
	}
	convert := w.file.Code(`func(a, b any, scope <k8s.io/apimachinery/pkg/conversion>.Scope) error {
			return $(a.(*$), b.(*$), scope)
		}`, name, in, out)
	return w.file.Code(returnError, w.file.Code("s.$((*$)(nil), (*$)(nil), $)", method, in, out, convert))
}
