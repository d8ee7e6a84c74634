package wiring

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

// converter is the function from in to out. One of the types is the version's.
func (p *printer) converter(v model.ResourceVersion, in, out *model.Type) plan.Func {
	pair := plan.Pair{In: in, Out: out}
	if f, ok := p.plan.Converters[pair]; ok {
		return f
	}
	return plan.Func{Path: p.plan.Home(v.Version.Package).Path, Name: pair.Function()} // the plan has the fault
}

// conversion is a function from in to out that calls the converter.
func (p *printer) conversion(v model.ResourceVersion, in, out *model.Type) jen.Code {
	return gocode.Converter(p.converter(v, in, out), plan.Pair{In: in, Out: out}, p.scoped)
}

// pointer is the type *T.
func pointer(t *model.Type) *jen.Statement { return gocode.PointerTo(t) }

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
