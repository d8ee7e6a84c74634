package wiring

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
)

// options prints how the query of a stream or a connection is read into its options.
func (p *printer) options(s *model.Subresource) jen.Code {
	var reads []jen.Code
	p.optionFields(s, s.Options, jen.Id("options"), &reads, 0)
	typ := pointer(s.Options)
	members := []jen.Code{member("New", gocode.Constructor(s.Options))}
	if len(reads) > 0 {
		var body []jen.Code
		if len(reads) == 1 {
			body = append(body, jen.Return(reads[0]))
		} else {
			body = append(body, jen.Return(jen.Qual("errors", "Join").Custom(arguments, reads...)))
		}
		members = append(members, member("Decode",
			jen.Func().Params(jen.Id("query").Qual("net/url", "Values"), jen.Id("options").Add(typ)).Error().
				Block(body...)))
	}
	return literal(jen.Qual(subresourcePath, "Options").Types(typ), members...)
}

// optionFields prints the reading of each field of a struct.
func (p *printer) optionFields(s *model.Subresource, t *model.Type, into *jen.Statement, reads *[]jen.Code, depth int) {
	for _, f := range t.Fields {
		switch {
		case f.Ignored || !f.Exported || model.IsNamed(f.Type, metaPath, "TypeMeta", "ObjectMeta"):
		case f.Inline && f.Type.Form == model.Struct && depth < 8:
			p.optionFields(s, f.Type, into.Clone().Dot(f.Name), reads, depth+1)
		default:
			call := optionRead(f, jen.Op("&").Add(into.Clone().Dot(f.Name)))
			if call == nil {
				pos := f.Pos
				if !t.Package.Output {
					pos = s.Method.Pos
				}
				p.errs.Add(pos, "field %s of %s can't be read from a query, as the options of the subresource %s "+
					"are: it is %s; options are strings, booleans, whole numbers, times, pointers to these and lists "+
					"of them",
					f.Name, model.TypeText(t), s.Name, model.TypeText(f.Type))
				continue
			}
			*reads = append(*reads, call)
		}
	}
}

// optionRead is the expression that reads a field; nil where its type can't be.
func optionRead(f *model.Field, into jen.Code) jen.Code {
	function, t := "QueryValue", f.Type
	switch {
	case t.Package == nil && t.Form == model.Pointer:
		function, t = "QueryPointer", t.Elem
	case t.Package == nil && t.Form == model.Slice:
		function, t = "QueryValues", t.Elem
	}
	var parser string
	switch {
	case model.IsNamed(t, metaPath, "Time", "MicroTime"):
		parser := jen.Qual(subresourcePath, "QueryParsed").Types(jen.Qual(metaPath, t.Name))
		return jen.Qual(subresourcePath, function).Call(jen.Id("query"), jen.Lit(f.JSON), parser, into)
	case model.IsString(t):
		parser = "QueryText"
	case model.IsBool(t):
		parser = "QueryBool"
	case t.Form == model.Basic && (t.Basic == "int" || t.Basic == "int8" || t.Basic == "int16" || t.Basic == "int32" ||
		t.Basic == "int64"):
		parser = "QueryInt"
	default:
		return nil
	}
	return jen.Qual(subresourcePath, function).
		Call(jen.Id("query"), jen.Lit(f.JSON), jen.Qual(subresourcePath, parser), into)
}
