package wiring

import (
	"cmp"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/plan/hook"
	"apigen.dev/generator/internal/plan/serving"
)

func (p *printer) define(f *jen.File, r *model.Resource, served []model.ResourceVersion) {
	var storage, prefix, scope = "", "", "api.Namespaced"
	if !r.WithoutStorage { // nothing is stored of others
		storage, prefix = r.Storage.Name, r.StoragePrefix
	}
	if r.ClusterScoped {
		scope = "api.Cluster"
	}
	definition := gocode.Code("registry.Definition[$]", pointer(r.Hub))
	f.Commentf("define%s is the resource %s.", r.Kind, r.Plural)
	f.Add(gocode.Code("func define"+r.Kind+"("+when(p.scoped, "scope conversion.Scope")+") $ {\nreturn $\n}",
		definition, literal(definition,
			textMember("Group", p.group.Name),
			member("Names", names(r)),
			member("Scope", gocode.Code(scope)),
			member("New", gocode.Constructor(r.Hub)),
			member("Versions", p.versions(r, served)),
			optional("Storage", storage),
			optional("StoragePrefix", prefix),
			when(!r.WithoutStorage && r.Verbs != nil, member("Verbs", texts(r.Verbs))),
			p.strategy(r),
			p.subresources(r),
			p.extensions(r),
			p.selectable(r),
		)))
}

func names(r *model.Resource) jen.Code {
	return literal(gocode.Code("api.Names"),
		textMember("Kind", r.Kind),
		textMember("ListKind", r.ListKind),
		textMember("Plural", r.Plural),
		textMember("Singular", r.Singular),
		when(len(r.ShortNames) > 0, member("ShortNames", texts(r.ShortNames))),
		when(len(r.Categories) > 0, member("Categories", texts(r.Categories))))
}

// zero is the zero value of a kind's field, as an expression.
func zero(kind *model.Type, f *model.Field) jen.Code {
	switch t := f.Type; {
	case t.Form == model.Struct && t.Package != nil && len(t.TypeArgs) == 0:
		return gocode.Code("$ {}", name(t))
	case t.Form == model.Pointer, t.Form == model.Map, t.Form == model.Slice, t.Form == model.Interface:
		return jen.Nil()
	}
	return gocode.Code("new($)."+f.Name, name(kind))
}

// name is a type by its name, and pointer the type of pointers to it.
func name(t *model.Type) *jen.Statement    { return jen.Qual(t.Package.Path, t.Name) }
func pointer(t *model.Type) *jen.Statement { return gocode.PointerTo(t) }

// strategy prints the Strategy, or nothing where the author has no logic.
func (p *printer) strategy(r *model.Resource) jen.Code {
	var members []jen.Code
	contextual := p.contextual(r)
	if contextual != nil {
		members = p.contextualMembers(contextual, r)
	}
	for _, h := range p.plan.OfResource(r).Hooks {
		if isTaken(contextual, &h) {
			continue
		}
		if h.Field != "" {
			members = append(members, member(h.Field, p.hookCall(h, r.Hub)))
		}
		if h.Errors != nil && h.Errors.Leveled && p.plan.Hook(r, "Warnings") == nil {
			members = append(members, member("Warnings", p.levelWarnings(h, r.Hub)))
		}
	}
	serving := p.plan.OfResource(r).Serving
	if rule := serving.Name; rule != nil {
		members = append(members, member(hook.ValidateName, jen.Qual(rule.Package, rule.Function)))
	}
	for _, field := range serving.Strategy {
		members = append(members, member(field, jen.True()))
	}
	return list("Strategy", gocode.Code("registry.Strategy[$]", pointer(r.Hub)), members)
}

// hookCall is the function of a hook, or one that calls its method.
func (p *printer) hookCall(h hook.Hook, hub *model.Type) jen.Code {
	if h.Function {
		return jen.Qual(h.Func.Package.Path, h.Func.Name)
	}
	if h.Errors != nil {
		return p.contextualValidate(h, hub)
	}
	switch h.Name {
	case "Canonicalize", hook.BlocksDeletion:
		return gocode.Code("($)."+h.Name, pointer(hub))
	case hook.ValidateName:
		return gocode.Code("new($)."+h.Name, name(hub))
	case hook.CheckGracefulDelete:
		return gocode.Code("func(ctx context.Context, obj $, options *metav1.DeleteOptions) bool {\n"+
			"return obj."+h.Name+"(ctx, options)\n}", pointer(hub))
	}
	object, args := "obj", "ctx"
	if len(h.Func.Params) == 2 {
		object, args = "obj, old", "ctx, old"
	}
	results := map[string]string{
		"AuthorizeCreate": "error", "AuthorizeUpdate": "error", "Warnings": "[]string",
		"DefaultPropagationPolicy": "metav1.DeletionPropagation", "TimeToLive": "time.Duration",
	}
	result, call := cmp.Or(results[h.Name], "field.ErrorList"), "return obj."+h.Name+"("+args+")"
	if len(h.Func.Results) == 0 {
		result, call = "", "obj."+h.Name+"("+args+")"
	}
	return gocode.Code("func(ctx context.Context, "+object+" $) "+result+" {\n"+call+"\n}", pointer(hub))
}

// Warnings reports methods that look as if the server called them, and that it doesn't call, since they have another
// signature or another type than the hub, and columns that can't show the values that they lead to.
func Warnings(p *plan.Plan) []diag.Error {
	var out diag.Errors
	for _, g := range p.WiredGroups() {
		for _, r := range g.Resources {
			out = append(append(out, hook.Warnings(r)...), p.MethodWarnings(r)...)
			for _, v := range r.Versions {
				out = append(out, serving.Warnings(p.OfType(v.Type).Columns)...)
			}
		}
	}
	return out
}
