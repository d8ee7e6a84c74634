package wiring

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

// provider prints the interface that answers for a kind.
func (p *printer) provider(f *jen.File, r *model.Resource) {
	hub := pointer(r.Hub)
	ctx, namespace := jen.Id("ctx").Qual("context", "Context"), jen.Id("namespace").String()
	methods := map[string]jen.Code{
		"create": jen.Id("Create").Params(ctx, jen.Id("obj").Add(hub), jen.Id("dryRun").Bool()).
			Params(hub, jen.Error()),
		"get": jen.Id("Get").Params(ctx, jen.List(jen.Id("namespace"), jen.Id("name")).String()).
			Params(hub, jen.Error()),
		"list": jen.Id("List").Params(ctx, namespace, jen.Id("selection").Qual(apiPath, "Selection")).
			Params(jen.Op("*").Qual(registryPath, "List").Types(hub), jen.Error()),
		"watch": jen.Id("Watch").Params(ctx, namespace, jen.Id("options").Qual(apiPath, "WatchOptions")).
			Params(jen.Qual(registryPath, "ObjectWatch").Types(hub), jen.Error()),
		"update": jen.Id("Update").Params(ctx, jen.List(jen.Id("obj"), jen.Id("old")).Add(hub), jen.Id("dryRun").
			Bool()).Params(hub, jen.Error()),
		"delete": jen.Id("Delete").Params(ctx, jen.Id("obj").Add(hub), jen.Id("options").Op("*").Qual(metaPath,
			"DeleteOptions")).Params(hub, jen.Error()),
	}
	var has []jen.Code
	for _, verb := range provided(r) {
		has = append(has, methods[verb])
	}
	f.Commentf("%s answers for the resource %s, of which nothing is stored. What its methods mean stands at "+
		"registry.Provider.", plan.ProviderName(r), r.Plural)
	f.Type().Id(plan.ProviderName(r)).Interface(has...)
}

// provided are the verbs that the provider has methods for: patches are updates, and collections are deleted one by
// one.
func provided(r *model.Resource) []string {
	return slices.DeleteFunc(slices.Clone(r.Verbs),
		func(verb string) bool { return verb == "patch" || verb == "deletecollection" })
}

// withoutStorage is the expression of a kind without storage.
func (p *printer) withoutStorage(r *model.Resource, definition jen.Code) jen.Code {
	var members []jen.Code
	for _, verb := range provided(r) {
		name := upperFirst(verb)
		members = append(members, member(name, jen.Id(plan.ProviderParameter(r)).Dot(name)))
	}
	return jen.Qual(registryPath, "NewProvided").
		Call(definition, literal(jen.Qual(registryPath, "Provider").Types(pointer(r.Hub)), members...))
}

// providers are the parameters of Group.
func (p *printer) providers() (params []jen.Code) {
	for _, r := range plan.Provided(p.group) {
		params = append(params, jen.Id(plan.ProviderParameter(r)).Id(plan.ProviderName(r)))
	}
	return params
}
