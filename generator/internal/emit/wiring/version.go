package wiring

import (
	"cmp"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

func (p *printer) versions(r *model.Resource, served []model.ResourceVersion) jen.Code {
	var versions []jen.Code
	for _, v := range served {
		versions = append(versions, p.version(r, v))
	}
	return literal(gocode.Code("[]codec.Version[$]", pointer(r.Hub)), versions...)
}

func (p *printer) version(r *model.Resource, v model.ResourceVersion) jen.Code {
	columns, cells := p.columns(v)
	conversion := []jen.Code{member("New", gocode.Constructor(v.Type))}
	if f := p.plan.OfType(v.Type).Defaulter; f != (plan.Func{}) {
		conversion = append(conversion, member("Default", jen.Qual(f.Path, f.Name)))
	}
	if f := p.validator(r, v); f != nil {
		conversion = append(conversion, member("Validate", f))
	}
	if v.Type != r.Hub {
		conversion = append(conversion,
			member("ToHub", p.conversion(v.Type, r.Hub)),
			member("FromHub", p.conversion(r.Hub, v.Type)))
	}
	if v.Type.Custom() {
		conversion = append(conversion, member("Custom", jen.True()))
		defaults := p.plan.DefaultsOf(v.Type)
		if paths := ifSent(defaults, v.Type); len(paths) > 0 {
			conversion = append(conversion, member("DefaultsIfSent", texts(paths)))
		}
		if paths := nullablePaths(v.Type); len(paths) > 0 {
			conversion = append(conversion, member("Nullable", texts(paths)))
		}
		if paths := schemalessPaths(v.Type); len(paths) > 0 {
			conversion = append(conversion, member("Schemaless", texts(paths)))
		}
		if texts := defaultTexts(v.Type); len(texts) > 0 {
			byPath := literal(gocode.Code("map[string]string"), texts...)
			conversion = append(conversion, member("DefaultTexts", byPath))
		}
		if empty := emptyStructs(defaults, v.Type); len(empty) > 0 {
			byPath := literal(gocode.Code("map[string]string"), empty...)
			conversion = append(conversion, member("EmptyStructs", byPath))
		}
		if name := p.sent.ofKind(v.Type); name != "" {
			conversion = append(conversion, member("Sent", jen.Id(name)))
		}
	}
	if cells != nil {
		conversion = append(conversion, member("Columns", cells))
	}
	if v.Type.BringsProtobuf() {
		conversion = append(conversion, member("Proto", gocode.Code("codec.ProtoOf[$]()", pointer(v.Type))))
	}
	return gocode.Code("codec.VersionOf($, $)", p.info(r, v, columns),
		literal(gocode.Code("codec.Conversion[$, $]", pointer(r.Hub), pointer(v.Type)), conversion...))
}

// checks is the expression of all faults of the object by the rules of its version's markers, those in CEL after the
// others; nil if it has none. With sent, it has the faults of what the client sent, too.
func (p *printer) checks(t *model.Type, obj, old string, sent bool) jen.Code {
	markers, inCEL := p.plan.OfType(t).Validation, p.plan.OfType(t).Rules
	if markers == (plan.Func{}) && inCEL == nil {
		return nil
	}
	result := jen.Nil()
	if markers != (plan.Func{}) {
		result = gocode.Code("$(ctx, op, nil, "+obj+", "+old+")", jen.Qual(markers.Path, markers.Name))
	}
	if sent {
		result = gocode.Code("codec.AddFaults(ctx, $)", result)
	}
	if inCEL != nil {
		result = gocode.Code("cel.Validate(ctx, "+inCEL.Function+"(), $, "+obj+", "+old+")", result)
	}
	return result
}

// info prints the VersionInfo: on one line if there is nothing but the name.
func (p *printer) info(r *model.Resource, v model.ResourceVersion, columns jen.Code) jen.Code {
	members := []jen.Code{textMember("Name", v.Version.Name)}
	if columns != nil {
		members = append(members, member("Columns", columns))
	}
	if kind := v.Type.Kind; kind != nil && (kind.IsDeprecated || kind.Deprecated != "") {
		members = append(members, textMember("Deprecated", cmp.Or(kind.Deprecated,
			strings.TrimPrefix(p.group.Name+"/", "/")+v.Version.Name+" "+r.Kind+" is deprecated")))
		if kind.Removed != "" {
			members = append(members, textMember("Removed", kind.Removed))
		}
	}
	if len(members) == 1 {
		return gocode.Code("api.VersionInfo$", jen.Values(members...))
	}
	return literal(gocode.Code("api.VersionInfo"), members...)
}

// converter is the function from in to out. One of the types is a version's, the other the hub.
func (p *printer) converter(in, out *model.Type) plan.Func {
	return p.plan.OfPair(plan.Pair{In: in, Out: out}).Converter
}

func (p *printer) conversion(in, out *model.Type) jen.Code {
	return gocode.Converter(p.converter(in, out), plan.Pair{In: in, Out: out}, p.scoped)
}

// validator is the function that checks an object of the version against the rules of its markers, or nil if it has
// none. Where its objects carry fields of the hub in an annotation, which a client can write as it likes, they must
// also keep the rules of the storage version, which has these fields.
func (p *printer) validator(r *model.Resource, v model.ResourceVersion) jen.Code {
	checks := p.checks(v.Type, "obj", "old", v.Type.Custom())
	preserved := p.preserved(r, v)
	body := gocode.Code("return $", checks)
	switch {
	case checks == nil && preserved == nil:
		return nil
	case checks == nil && v.Type.Custom():
		body = gocode.Code("return codec.AddFaults(ctx, $)", preserved)
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
	serving := p.plan.OfResource(r).Serving
	if serving == nil || serving.Storage == nil {
		return nil // of a payload, or of a kind without storage
	}
	stored := serving.Storage
	if stored.Type == v.Type || !p.plan.Preserves(v.Type, r.Hub) {
		return nil
	}
	rules := p.checks(stored.Type, "to", "from", false)
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
	toHub := convert(p.converter(v.Type, r.Hub), "in", "hub")
	body := gocode.Code("return hub, $", toHub)
	if stored.Type != r.Hub {
		body = gocode.Code("if err := $; err != nil {\nreturn nil, err\n}\nout := new($)\nreturn out, $", toHub,
			name(stored.Type), convert(p.converter(r.Hub, stored.Type), "hub", "out"))
	}
	return gocode.Code("func(in $) ($, error) {\nhub := new($)\n$\n}", pointer(v.Type), pointer(stored.Type),
		name(r.Hub), body)
}
