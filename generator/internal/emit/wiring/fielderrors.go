package wiring

import (
	"slices"
	"strconv"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan/contextual"
	"apigen.dev/generator/internal/plan/hook"
)

// contextualValidate prints a Validate that answers with errors of a type of its own, by way of the function that reads
// them.
func (p *printer) contextualValidate(h hook.Hook, hub *model.Type) jen.Code {
	return gocode.Code("func(ctx context.Context, obj $) field.ErrorList {\nreturn $(obj."+h.Name+"(ctx))\n}",
		pointer(hub), "fieldErrors"+p.reader(h.Errors))
}

// levelWarnings prints the Warnings of a kind whose Validate answers with warnings, too.
func (p *printer) levelWarnings(h hook.Hook, hub *model.Type) jen.Code {
	return gocode.Code("func(ctx context.Context, obj, _ $) []string {\nreturn $(obj."+h.Name+"(ctx))\n}",
		pointer(hub), "fieldWarnings"+p.reader(h.Errors))
}

// reader tells apart the functions that read errors of several types: it is what their names end in.
func (p *printer) reader(errors *contextual.Errors) string {
	i := slices.IndexFunc(p.read, func(e *contextual.Errors) bool { return e.Type == errors.Type })
	if i < 0 {
		i = len(p.read)
		p.read = append(p.read, errors)
	}
	if i == 0 {
		return ""
	}
	return strconv.Itoa(i + 1)
}

// readers prints the functions that read what Validate methods answer with.
func (p *printer) readers(f *jen.File) {
	for _, e := range p.read {
		end := p.reader(e)
		f.Commentf("fieldErrors%s returns what a Validate method found wrong, an error for each path.", end)
		f.Add(gocode.Code("func fieldErrors"+end+"(found $) field.ErrorList {\nvar errs field.ErrorList\n$\n"+
			"return errs\n}", pointer(e.Type), each(e, "Level == 0", "errs = append(errs, "+fieldError(e)+"...)")))
		if e.Leveled {
			f.Commentf("fieldWarnings%s returns what a Validate method warns of.", end)
			f.Add(gocode.Code("func fieldWarnings"+end+"(found $) []string {\nvar warnings []string\n$\n"+
				"return warnings\n}",
				pointer(e.Type), each(e, "Level != 0", "warnings = append(warnings, one.Error())")))
		}
	}
}

// each prints a statement for every error of the level.
func each(e *contextual.Errors, level, do string) jen.Code {
	if e.Leveled {
		do = "if one." + level + " {\n" + do + "\n}"
	}
	if e.Wrapped {
		return gocode.Code("if found != nil {\nfor _, one := range found.WrappedErrors() {\n" + do + "\n}\n}")
	}
	return gocode.Code("if one := found; one != nil {\n" + do + "\n}")
}

func fieldError(e *contextual.Errors) string {
	switch {
	case !e.Described:
		return "registry.PathErrors(nil, one.Error())"
	case e.Details:
		return "registry.PathErrors(one.Paths, one.Message, one.Details)"
	}
	return "registry.PathErrors(one.Paths, one.Message)"
}
