package wiring

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

// subresources prints the subresources that are fields of the object, or nothing.
func (p *printer) subresources(r *model.Resource) jen.Code {
	var printed []jen.Code
	if status := p.plan.Serving[r].Status; status != nil {
		printed = append(printed, p.fieldSubresource(r, "status", status))
	}
	for _, s := range r.Subresources {
		if s.Form == model.FieldSubresource {
			printed = append(printed, p.fieldSubresource(r, s.Name, s.Field))
		}
	}
	if printed == nil {
		return nil
	}
	typ := jen.Index().Qual(registryPath, "Subresource").Types(pointer(r.Hub))
	return member("Subresources", typ.Values(printed...))
}

// fieldSubresource prints the subresource that is a field.
func (p *printer) fieldSubresource(r *model.Resource, name string, f *model.Field) jen.Code {
	hub := pointer(r.Hub)
	members := []jen.Code{
		member("Name", jen.Lit(name)),
		member("Copy", jen.Func().Params(jen.List(jen.Id("from"), jen.Id("to")).Add(hub)).Block(copyField(f))),
		member("Reset", jen.Func().Params(jen.Id("obj").Add(hub)).Block(jen.Id("obj").Dot(f.Name).Op("=").
			Add(zero(r.Hub, f)))),
	}
	if h := p.plan.Hook(r, plan.UpdateHook(f.Name)); h != nil {
		members = append(members, member("Validate", hookCall(*h, r.Hub)))
	}
	return jen.Custom(braces, members...)
}

// extensions prints the subresources that are no part of the object, or nothing.
func (p *printer) extensions(r *model.Resource) jen.Code {
	var printed []jen.Code
	for _, s := range r.Subresources {
		switch s.Form {
		case model.FieldSubresource:
		case model.ScaleSubresource:
			printed = append(printed, p.scale(r))
		case model.ActionSubresource:
			printed = append(printed, p.action(r, s, "Action", jen.Error()))
		case model.RemovalSubresource:
			printed = append(printed, p.action(r, s, "Removal", jen.Params(jen.Op("*").Qual(metaPath,
				"DeleteOptions"), jen.Error())))
		case model.RequestSubresource:
			printed = append(printed, p.request(r, s))
		case model.ViewSubresource:
			printed = append(printed, p.view(r, s))
		case model.StreamSubresource:
			printed = append(printed, p.stream(r, s))
		case model.ConnectSubresource:
			printed = append(printed, p.connection(r, s))
		}
	}
	if printed == nil {
		return nil
	}
	return member("Extensions", jen.Index().Qual(subresourcePath, "Extension").Types(pointer(r.Hub)).
		Custom(braces, printed...))
}

// extension prints a subresource of a form of package subresource.
func extension(form string, types []jen.Code, members ...jen.Code) jen.Code {
	return jen.Qual(subresourcePath, form+"Of").
		Call(literal(jen.Qual(subresourcePath, form).Types(types...), members...))
}

// action prints an Action or a Removal, whose method returns results.
func (p *printer) action(r *model.Resource, s *model.Subresource, form string, results jen.Code) jen.Code {
	body := pointer(s.Body.Hub)
	return extension(form, []jen.Code{pointer(r.Hub), body},
		member("Name", jen.Lit(s.Name)),
		member("Body", p.payload(s.Body)),
		member("Do", called(r, s, "in", body, results)))
}

func (p *printer) request(r *model.Resource, s *model.Subresource) jen.Code {
	body, answer := pointer(s.Body.Hub), pointer(s.Answer.Hub)
	return extension("Request", []jen.Code{pointer(r.Hub), body, answer},
		member("Name", jen.Lit(s.Name)),
		member("Body", p.payload(s.Body)),
		member("Answer", p.payload(s.Answer)),
		member("Do", called(r, s, "in", body, jen.Params(answer, jen.Error()))))
}

func (p *printer) view(r *model.Resource, s *model.Subresource) jen.Code {
	options, answer := pointer(s.Options), pointer(s.Answer.Hub)
	return extension("Projection", []jen.Code{pointer(r.Hub), options, answer},
		member("Name", jen.Lit(s.Name)),
		member("Options", p.options(s)),
		member("Answer", p.payload(s.Answer)),
		member("Show", called(r, s, "options", options, jen.Params(answer, jen.Error()))))
}

func (p *printer) stream(r *model.Resource, s *model.Subresource) jen.Code {
	options := pointer(s.Options)
	var contentType jen.Code
	if s.ContentType != "" {
		contentType = member("ContentType", jen.Lit(s.ContentType))
	}
	return extension("Stream", []jen.Code{pointer(r.Hub), options},
		member("Name", jen.Lit(s.Name)),
		contentType,
		member("Options", p.options(s)),
		member("Open", called(r, s, "options", options, jen.Params(jen.Qual("io", "ReadCloser"), jen.Error()))))
}

func (p *printer) connection(r *model.Resource, s *model.Subresource) jen.Code {
	options := pointer(s.Options)
	var subpath jen.Code
	if s.Subpath {
		subpath = member("Subpath", jen.True())
	}
	return extension("Connection", []jen.Code{pointer(r.Hub), options},
		member("Name", jen.Lit(s.Name)),
		member("Methods", stringList(s.Methods)),
		subpath,
		member("Options", p.options(s)),
		member("Connect", called(r, s, "options", options, jen.Params(jen.Qual("net/http", "Handler"), jen.Error()))))
}

// called is the function that calls the hub's method; or the function that stands for it.
func called(r *model.Resource, s *model.Subresource, argument string, typ, results jen.Code) jen.Code {
	if s.Function {
		return jen.Qual(r.Hub.Package.ServedBy.Path, s.Method.Name)
	}
	return jen.Func().Params(jen.Id("ctx").Qual("context", "Context"), jen.Id("obj").Add(pointer(r.Hub)),
		jen.Id(argument).Add(typ)).Add(results).Block(
		jen.Return(jen.Id("obj").Dot(s.Method.Name).Call(jen.Id("ctx"), jen.Id(argument))))
}

// payload prints a kind that a subresource takes or answers, in its versions.
func (p *printer) payload(k *model.Payload) jen.Code {
	as := &model.Resource{Kind: k.Kind, Hub: k.Hub}
	for _, v := range k.Versions {
		as.Versions = append(as.Versions, model.ResourceVersion{
			Version: &model.Version{Name: v.Name, Package: v.Type.Package}, Type: v.Type,
		})
	}
	return literal(jen.Qual(codecPath, "Kind").Types(pointer(k.Hub)),
		member("Group", jen.Lit(k.Group)),
		member("Kind", jen.Lit(k.Kind)),
		member("New", gocode.Constructor(k.Hub)),
		member("Versions", p.versions(as, as.Versions)))
}

// payloadPackages are those of all types that subresources take, answer and read from queries.
func (p *printer) payloadPackages() (packages []*model.Package) {
	for _, r := range p.group.Resources {
		for _, s := range r.Subresources {
			for _, k := range []*model.Payload{s.Body, s.Answer} {
				if k == nil {
					continue
				}
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
