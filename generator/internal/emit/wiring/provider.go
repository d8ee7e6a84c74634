package wiring

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/spelling"
)

func (p *printer) provider(f *jen.File, r *model.Resource) {
	var has []jen.Code
	for _, verb := range provided(r) {
		text := providerMethods[verb]
		has = append(has, gocode.Code(text, slices.Repeat([]any{pointer(r.Hub)}, strings.Count(text, "$"))...))
	}
	f.Commentf("%s answers for the resource %s, of which nothing is stored. What its methods mean stands at "+
		"registry.Provider.", plan.ProviderName(r), r.Plural)
	f.Type().Id(plan.ProviderName(r)).Interface(has...)
}

// providerMethods are the methods of a provider by verb, with $ for the pointer to the hub.
var providerMethods = map[string]string{
	"create": "Create(ctx context.Context, obj $, dryRun bool) ($, error)",
	"get":    "Get(ctx context.Context, namespace, name string) ($, error)",
	"list":   "List(ctx context.Context, namespace string, selection api.Selection) (*registry.List[$], error)",
	"watch": "Watch(ctx context.Context, namespace string, options api.WatchOptions) " +
		"(registry.ObjectWatch[$], error)",
	"update": "Update(ctx context.Context, obj, old $, dryRun bool) ($, error)",
	"delete": "Delete(ctx context.Context, obj $, options *metav1.DeleteOptions) ($, error)",
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
	for _, r := range plan.WithoutStorage(p.group) {
		params = append(params, jen.Id(plan.ProviderParameter(r)).Id(plan.ProviderName(r)))
	}
	return params
}
