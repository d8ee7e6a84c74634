package wiring

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
)

// options prints how the query of a stream or a connection is read into its options.
func (p *printer) options(r *model.Resource, s *model.Subresource) jen.Code {
	var reads []jen.Code
	for _, f := range p.plan.Serving[r].Options[s] {
		parser := gocode.Code("subresource." + f.Parser)
		if f.Parsed != nil {
			parser = gocode.Code("subresource."+f.Parser+"[$]", name(f.Parsed))
		}
		reads = append(reads,
			gocode.Code("subresource."+f.Function+"(query, $, $, &options."+f.Path+")", jen.Lit(f.JSON), parser))
	}
	typ := pointer(s.Options)
	members := []jen.Code{member("New", gocode.Constructor(s.Options))}
	if len(reads) > 0 {
		read := reads[0]
		if len(reads) > 1 {
			read = gocode.Code("errors.Join$", jen.Custom(arguments, reads...))
		}
		members = append(members, member("Decode",
			gocode.Code("func(query url.Values, options $) error {\nreturn $\n}", typ, read)))
	}
	return literal(gocode.Code("subresource.Options[$]", typ), members...)
}
