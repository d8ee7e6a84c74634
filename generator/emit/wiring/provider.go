package wiring

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
	"apigen.dev/generator/spelling"
)

func (p *printer) provider(f *jen.File, r *model.Resource) {
	var has []jen.Code
	for _, verb := range provided(r) {
		has = append(has, providerMethods(verb, pointer(r.Hub)))
	}
	f.Commentf("%s answers for the resource %s, of which nothing is stored. What its methods mean stands at "+
		"registry.Provider.", plan.ProviderName(r), r.Plural)
	f.Type().Id(plan.ProviderName(r)).Interface(has...)
}

func providerMethods(verb string, hub jen.Code) jen.Code {
	switch verb {
	case "create":
		return gocode.Code("Create(ctx context.Context, obj $, dryRun bool) ($, error)", hub, hub)
	case "get":
		return gocode.Code("Get(ctx context.Context, namespace, name string) ($, error)", hub)
	case "list":
		return gocode.Code("List(ctx context.Context, namespace string, selection api.Selection) "+
			"(*registry.List[$], error)", hub)
	case "watch":
		return gocode.Code("Watch(ctx context.Context, namespace string, options api.WatchOptions) "+
			"(registry.ObjectWatch[$], error)", hub)
	case "update":
		return gocode.Code("Update(ctx context.Context, obj, old $, dryRun bool) ($, error)", hub, hub)
	}
	return gocode.Code("Delete(ctx context.Context, obj $, options *metav1.DeleteOptions) ($, error)", hub, hub)
}

// provided are the verbs that the provider has methods for: patches are updates, and collections are deleted one by
// one.
func provided(r *model.Resource) []string {
	return slices.DeleteFunc(slices.Clone(r.Verbs),
		func(verb string) bool { return verb == "patch" || verb == "deletecollection" })
}

// withoutStorage is the expression of a kind without storage.
func (p *printer) withoutStorage(r *model.Resource, definition string) jen.Code {
	var members []jen.Code
	for _, verb := range provided(r) {
		name := spelling.UpperFirst(verb)
		members = append(members, member(name, jen.Id(plan.ProviderParameter(r)).Dot(name)))
	}
	return gocode.Code("registry.NewProvided("+definition+", $)",
		literal(gocode.Code("registry.Provider[$]", pointer(r.Hub)), members...))
}

func (p *printer) providers() (params []jen.Code) {
	for _, r := range plan.Provided(p.group) {
		params = append(params, jen.Id(plan.ProviderParameter(r)).Id(plan.ProviderName(r)))
	}
	return params
}
