package wiring

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

// validator is the function that checks an object of the version against the rules of its markers, or nil where it has
// none. Where its objects carry fields of the hub in an annotation, which a client can write as it likes, they must
// also keep the rules of the storage version, which has these fields.
func (p *printer) validator(r *model.Resource, v model.ResourceVersion) jen.Code {
	checks := p.checks(v.Type, "obj", "old")
	preserved := p.preserved(r, v)
	body := gocode.Code("return $", checks)
	switch {
	case checks == nil && preserved == nil:
		return nil
	case checks == nil:
		body = gocode.Code("return $", preserved)
	case preserved != nil:
		body = gocode.Code("errs := $\nreturn append(errs, $...)", checks, preserved)
	}
	return gocode.Code("func(ctx context.Context, op operation.Operation, obj, old $) field.ErrorList {\n$\n}",
		pointer(v.Type), body)
}

// preserved is the expression of all faults of the fields that an object carries in its annotation, or nil.
func (p *printer) preserved(r *model.Resource, v model.ResourceVersion) jen.Code {
	serving := p.plan.Serving[r]
	if serving == nil || serving.Storage == nil {
		return nil // of a payload, or of a kind without storage
	}
	stored := serving.Storage
	if stored.Type == v.Type || !p.plan.Preserves(v.Type, r.Hub) {
		return nil
	}
	rules := p.checks(stored.Type, "to", "from")
	if rules == nil {
		return nil
	}
	return gocode.Code("codec.ValidatePreserved($, obj, old, $, func(to, from $) field.ErrorList {\nreturn $\n})",
		jen.Lit(plan.PreservedAnnotation), p.toStorage(r, v, stored), pointer(stored.Type), rules)
}

func (p *printer) toStorage(r *model.Resource, v model.ResourceVersion, stored *model.ResourceVersion) jen.Code {
	convert := func(f plan.Func, from, to string) jen.Code {
		return gocode.Code("$("+from+", "+to+", $)", jen.Qual(f.Path, f.Name), gocode.Scope(p.scoped))
	}
	toHub := convert(p.converter(v, v.Type, r.Hub), "in", "hub")
	body := gocode.Code("return hub, $", toHub)
	if stored.Type != r.Hub {
		body = gocode.Code("if err := $; err != nil {\nreturn nil, err\n}\nout := new($)\nreturn out, $", toHub,
			name(stored.Type), convert(p.converter(*stored, r.Hub, stored.Type), "hub", "out"))
	}
	return gocode.Code("func(in $) ($, error) {\nhub := new($)\n$\n}", pointer(v.Type), pointer(stored.Type),
		name(r.Hub), body)
}
