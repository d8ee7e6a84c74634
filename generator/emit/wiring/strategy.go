package wiring

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
	"apigen.dev/generator/plan/serving"
)

// strategy prints the Strategy, or nothing where the author has no logic.
func (p *printer) strategy(r *model.Resource) jen.Code {
	var members []jen.Code
	for _, h := range p.plan.Hooks[r] {
		if h.Field != "" {
			members = append(members, member(h.Field, hookCall(h, r.Hub)))
		}
	}
	for _, rule := range markerRules {
		if rule.of(r) {
			members = append(members, member(rule.field, jen.True()))
		}
	}
	if !counted(r) && r.Verbs == nil {
		members = append(members, member("NoGeneration", jen.True()))
	}
	if members == nil {
		return nil
	}
	return member("Strategy", literal(jen.Qual(registryPath, "Strategy").Types(pointer(r.Hub)), members...))
}

// rule is a field of the Strategy that markers of a kind set.
type rule struct {
	field string
	asked func(*model.Kind) bool
}

var markerRules = []rule{
	{"AllowCreateOnUpdate", func(k *model.Kind) bool { return k.CreateOnUpdate }},
	{"RequireVersionOnUpdate", func(k *model.Kind) bool { return k.RequireResourceVersion }},
	{"ReturnDeletedObject", func(k *model.Kind) bool { return k.ReturnDeletedObject }},
}

// of tells whether any version of the kind, or its hub, asks for the rule.
func (u rule) of(r *model.Resource) bool {
	if r.Hub.Kind != nil && u.asked(r.Hub.Kind) {
		return true
	}
	for _, v := range r.Versions {
		if v.Type.Kind != nil && u.asked(v.Type.Kind) {
			return true
		}
	}
	return false
}

// counted tells whether the kind's objects have a generation: where a marker says so, or none says that they haven't
// and there is a spec to count the changes of.
func counted(r *model.Resource) bool {
	types := []*model.Type{r.Hub}
	for _, v := range r.Versions {
		types = append(types, v.Type)
	}
	spec := false
	for _, t := range types {
		if t.Kind != nil && t.Kind.Generation != nil {
			return *t.Kind.Generation
		}
		spec = spec || slices.ContainsFunc(t.Fields, func(f *model.Field) bool {
			return f.JSON == "spec" || f.Name == "Spec"
		})
	}
	return spec
}

// hookCall is the function of a hook, or one that calls its method.
func hookCall(h plan.Hook, hub *model.Type) jen.Code {
	if h.Function {
		return jen.Qual(h.Func.Package.Path, h.Func.Name)
	}
	switch h.Name {
	case "Canonicalize":
		return jen.Parens(pointer(hub)).Dot(h.Name)
	case "ValidateName":
		return jen.New(jen.Qual(hub.Package.Path, hub.Name)).Dot(h.Name)
	case plan.CheckGracefulDelete:
		return jen.Func().Params(jen.Id("ctx").Qual("context", "Context"), jen.Id("obj").Add(pointer(hub)),
			jen.Id("options").Op("*").Qual(metaPath, "DeleteOptions")).
			Bool().Block(jen.Return(jen.Id("obj").Dot(h.Name).Call(jen.Id("ctx"), jen.Id("options"))))
	}
	object := []jen.Code{jen.Id("obj").Add(pointer(hub))}
	args := []jen.Code{jen.Id("ctx")}
	if len(h.Func.Params) == 2 {
		object = []jen.Code{jen.List(jen.Id("obj"), jen.Id("old")).Add(pointer(hub))}
		args = append(args, jen.Id("old"))
	}
	f := jen.Func().Params(append([]jen.Code{jen.Id("ctx").Qual("context", "Context")}, object...)...)
	call := jen.Id("obj").Dot(h.Name).Call(args...)
	if len(h.Func.Results) == 0 {
		return f.Block(call)
	}
	switch h.Name {
	case "Warnings":
		return f.Index().String().Block(jen.Return(call))
	case "DefaultPropagationPolicy":
		return f.Qual(metaPath, "DeletionPropagation").Block(jen.Return(call))
	}
	return f.Qual(fieldPath, "ErrorList").Block(jen.Return(call))
}

// Warnings names the methods that look as if the server called them and that it doesn't call, since they have another
// signature or stand on another type than the hub, and the columns that can't show what they lead to.
func Warnings(p *plan.Plan) []diag.Error {
	var out diag.Errors
	for _, g := range p.WiredGroups() {
		for _, r := range g.Resources {
			out = append(out, plan.HookWarnings(r)...)
			for _, v := range r.Versions {
				out = append(out, serving.Warnings(p.Columns[v.Type])...)
			}
		}
	}
	return out
}
