package wiring

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
)

// extensions prints the subresources that are no part of the object, or nothing.
func (p *printer) extensions(r *model.Resource) jen.Code {
	var printed []jen.Code
	for _, s := range r.Subresources {
		switch s.Form {
		case model.FieldSubresource, model.PartSubresource:
		case model.ScaleSubresource:
			printed = append(printed, p.scale(r))
		default:
			printed = append(printed, p.method(r, s))
		}
	}
	return list("Extensions", gocode.Code("[]subresource.Extension[$]", pointer(r.Hub)), printed)
}

// methods are the types of package subresource for methods of the hub, their fields for the method, and its results.
var methods = map[model.SubresourceForm]struct{ name, field, results string }{
	model.ActionSubresource:  {"Action", "Do", "error"},
	model.RemovalSubresource: {"Removal", "Do", "(*metav1.DeleteOptions, error)"},
	model.RequestSubresource: {"Request", "Do", "($, error)"},
	model.ViewSubresource:    {"Projection", "Show", "($, error)"},
	model.StreamSubresource:  {"Stream", "Open", "(io.ReadCloser, error)"},
	model.ConnectSubresource: {"Connection", "Connect", "(http.Handler, error)"},
}

// method prints a subresource that is a method of the hub; or a function that stands for it.
func (p *printer) method(r *model.Resource, s *model.Subresource) jen.Code {
	form, connects := methods[s.Form], s.Form == model.ConnectSubresource
	types := []jen.Code{pointer(r.Hub)}
	members := []jen.Code{
		textMember("Name", s.Name),
		when(s.Form == model.StreamSubresource, optional("ContentType", s.ContentType)),
		when(connects, member("Methods", texts(s.Methods))),
		when(connects && s.Subpath, member("Subpath", jen.True())),
		when(connects && s.Address, member("Address", jen.True())),
		p.optionsKind(s),
	}
	var argument, answer jen.Code
	name := "options"
	if s.Body != nil {
		name, argument = "in", pointer(s.Body.Hub)
		members = append(members, member("Body", p.payload(s.Body)))
	} else {
		argument = pointer(s.Options)
		members = append(members, member("Options", p.options(r, s)))
	}
	types = append(types, argument)
	if s.Answer != nil {
		answer = pointer(s.Answer.Hub)
		types, members = append(types, answer), append(members, member("Answer", p.payload(s.Answer)))
	}
	call := gocode.Code("func(ctx context.Context, obj $, "+name+" $) $ {\n"+
		"return obj."+s.Method.Name+"(ctx, "+name+")\n}", pointer(r.Hub), argument, gocode.Code(form.results, answer))
	if s.Function {
		call = jen.Qual(r.Hub.Package.ServedBy.Path, s.Method.Name)
	}
	return extension(form.name, types, append(members, member(form.field, call))...)
}

// optionsKind prints the kind of a connection's options, or nothing where they are none.
func (p *printer) optionsKind(s *model.Subresource) jen.Code {
	kind := s.OptionsKind(p.group.Name)
	if kind == nil {
		return nil
	}
	return member("Kind", literal(gocode.Code("schema.GroupVersionKind"),
		textMember("Group", kind.Group), optional("Version", kind.Version), textMember("Kind", kind.Kind)))
}

// extension prints a subresource of a form of package subresource.
func extension(form string, types []jen.Code, members ...jen.Code) jen.Code {
	return gocode.Code("subresource."+form+"Of($)",
		literal(gocode.Code("subresource."+form+"[$]", jen.List(types...)), members...))
}

// payload prints a kind that a subresource takes or answers, in its versions.
func (p *printer) payload(k *model.Payload) jen.Code {
	as := &model.Resource{Kind: k.Kind, Hub: k.Hub}
	for _, v := range k.Versions {
		as.Versions = append(as.Versions, model.ResourceVersion{
			Version: &model.Version{Name: v.Name}, Type: v.Type,
		})
	}
	return literal(gocode.Code("codec.Kind[$]", pointer(k.Hub)),
		textMember("Group", k.Group),
		textMember("Kind", k.Kind),
		member("New", gocode.Constructor(k.Hub)),
		member("Versions", p.versions(as, as.Versions)))
}

// payloadPackages are those of all types that subresources take, answer and read from queries.
func (p *printer) payloadPackages() (packages []*model.Package) {
	for _, r := range p.group.Resources {
		for _, s := range r.Subresources {
			for _, k := range s.Payloads() {
				packages = append(packages, k.Hub.Package)
				for _, v := range k.Versions {
					packages = append(packages, v.Type.Package)
				}
			}
			if s.Options != nil {
				packages = append(packages, s.Options.Package)
			}
		}
	}
	return packages
}

// options prints how the query of a stream or a connection is read into its options.
func (p *printer) options(r *model.Resource, s *model.Subresource) jen.Code {
	var reads []jen.Code
	for _, f := range p.plan.OfResource(r).Serving.Options[s] {
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
