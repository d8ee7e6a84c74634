package wiring

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan/hook"
)

// A kind in Knative's shape has one Validate for creations and updates, and asks its context which of them it is called
// for. So does its SetDefaults. Both are called with the contexts that Knative's webhooks make.

// contextual returns the hook Validate of a resource that asks its context what is written; nil for others.
func (p *printer) contextual(r *model.Resource) *hook.Hook {
	if h := p.plan.Hook(r, "Validate"); h != nil && h.Errors != nil && h.Errors.Create != nil {
		return h
	}
	return nil
}

// takenByContextual are the hooks that the functions of contextualMembers call.
var takenByContextual = []string{"PrepareForCreate", "PrepareForUpdate", "Validate", "ValidateUpdate"}

// contextualMembers prints the members of the Strategy that call a hook Validate, and the method SetDefaults, with a
// context that tells of the write.
func (p *printer) contextualMembers(h *hook.Hook, r *model.Resource) (members []jen.Code) {
	create := gocode.Code("$(ctx)", function(h.Errors.Create))
	update := gocode.Code("$(ctx, old)", function(h.Errors.Update))
	add := func(name, params, result string, statements []jen.Code) {
		if len(statements) > 0 {
			members = append(members, member(name, gocode.Code("func(ctx context.Context, "+params+" $) "+result+" {$}",
				pointer(r.Hub), statements)))
		}
	}
	add("PrepareForCreate", "obj", "", p.contextualPrepare(r, "PrepareForCreate", "ctx", create))
	add("PrepareForUpdate", "obj, old", "", p.contextualPrepare(r, "PrepareForUpdate", "ctx, old", update))

	errors, warnings := "fieldErrors"+p.reader(h.Errors), "fieldWarnings"+p.reader(h.Errors)
	validate := func(read string, context jen.Code) *jen.Statement {
		return gocode.Code(read+"(obj.Validate($))", context)
	}
	add("ValidateCreate", "obj", "field.ErrorList", []jen.Code{jen.Return(validate(errors, create))})
	found := validate(errors, update)
	if more := p.plan.Hook(r, "ValidateUpdate"); more != nil {
		found = gocode.Code("append($, $...)", found, invoke(more, "ctx, old"))
	}
	add("ValidateUpdate", "obj, old", "field.ErrorList", []jen.Code{jen.Return(found)})
	if h.Errors.Leveled && p.plan.Hook(r, "Warnings") == nil {
		add("Warnings", "obj, old", "[]string", []jen.Code{
			jen.If(jen.Id("old").Op("==").Nil()).Block(jen.Return(validate(warnings, create))),
			jen.Return(validate(warnings, update)),
		})
	}
	return members
}

// contextualPrepare prints what a hook that prepares an object does: it calls SetDefaults, and the author's own hook.
func (p *printer) contextualPrepare(r *model.Resource, name, args string, context jen.Code) (statements []jen.Code) {
	if m := p.plan.DefaultsMethod(r.Hub); m != nil {
		statements = append(statements, gocode.Code("obj."+m.Name+"($)", context))
	}
	if h := p.plan.Hook(r, name); h != nil {
		statements = append(statements, invoke(h, args))
	}
	return statements
}

// invoke prints a call of a hook on obj: of a method, or of a function that has the object as its second parameter.
func invoke(h *hook.Hook, args string) jen.Code {
	if h.Function {
		return gocode.Code("$("+objectSecond(args)+")", function(h.Func))
	}
	if len(h.Func.Params) == 1 {
		args = "ctx"
	}
	return gocode.Code("obj." + h.Name + "(" + args + ")")
}

func objectSecond(args string) string { return "ctx, obj" + args[len("ctx"):] }

func function(f *model.Func) *jen.Statement { return jen.Qual(f.Package.Path, f.Name) }

// isTaken reports whether a hook is called by the functions of contextualMembers.
func isTaken(contextual, h *hook.Hook) bool {
	return contextual != nil && slices.Contains(takenByContextual, h.Name)
}
