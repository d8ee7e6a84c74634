package wiring

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

// versions prints the served versions, each with its conversions and columns.
func (p *printer) versions(r *model.Resource, served []model.ResourceVersion) jen.Code {
	var versions []jen.Code
	for _, v := range served {
		versions = append(versions, p.version(r, v))
	}
	return jen.Index().Qual(codecPath, "Version").Types(pointer(r.Hub)).Custom(braces, versions...)
}

func (p *printer) version(r *model.Resource, v model.ResourceVersion) jen.Code {
	columns, cells := p.columns(v.Type)
	conversion := []jen.Code{member("New", gocode.Constructor(v.Type))}
	if f := p.defaulter(v.Type); f != nil {
		conversion = append(conversion, member("Default", f))
	}
	if f := p.validatorOf(r, v); f != nil {
		conversion = append(conversion, member("Validate", f))
	}
	if v.Type != r.Hub {
		conversion = append(conversion,
			member("ToHub", p.conversion(v, v.Type, r.Hub)),
			member("FromHub", p.conversion(v, r.Hub, v.Type)))
	}
	if cells != nil {
		conversion = append(conversion, member("Columns", cells))
	}
	if v.Type.BringsProtobuf() {
		conversion = append(conversion, member("Proto", jen.Qual(codecPath, "ProtoOf").Types(pointer(v.Type)).Call()))
	}
	typ := jen.Qual(codecPath, "Conversion").Types(pointer(r.Hub), pointer(v.Type))
	return jen.Qual(codecPath, "VersionOf").Call(p.info(r, v, columns), literal(typ, conversion...))
}

// validator is the function that checks an object of the version against the rules of its markers, those in CEL after
// the others; or nil where it has none.
func (p *printer) validator(t *model.Type) jen.Code {
	result := p.checks(t, "obj", "old")
	if result == nil {
		return nil
	}
	return jen.Func().Params(
		jen.Id("ctx").Qual("context", "Context"), jen.Id("op").
			Qual(operationPath, "Operation"), jen.List(jen.Id("obj"), jen.Id("old")).Add(pointer(t)),
	).Qual(fieldPath, "ErrorList").Block(
		jen.Return(result))
}

// checks is the expression of all faults of the object by the rules of its version, or nil where there are none.
func (p *printer) checks(t *model.Type, obj, old string) *jen.Statement {
	markers, inCEL := p.plan.Checks.Markers[t], p.plan.Checks.CEL[t]
	if markers == (plan.Func{}) && inCEL == "" {
		return nil
	}
	result := jen.Nil()
	if markers != (plan.Func{}) {
		result = jen.Qual(markers.Path, markers.Name).
			Call(jen.Id("ctx"), jen.Id("op"), jen.Nil(), jen.Id(obj), jen.Id(old))
	}
	if inCEL != "" {
		result = jen.Qual(celPath, "Validate").
			Call(jen.Id("ctx"), jen.Id(inCEL).Call(), result, jen.Id(obj), jen.Id(old))
	}
	return result
}

// info prints the VersionInfo: on one line where there is nothing but the name.
func (p *printer) info(r *model.Resource, v model.ResourceVersion, columns jen.Code) jen.Code {
	members := []jen.Code{member("Name", jen.Lit(v.Version.Name))}
	if columns != nil {
		members = append(members, member("Columns", columns))
	}
	if kind := v.Type.Kind; kind != nil && (kind.IsDeprecated || kind.Deprecated != "") {
		text := kind.Deprecated
		if text == "" {
			text = strings.TrimPrefix(p.group.Name+"/", "/") + v.Version.Name + " " + r.Kind + " is deprecated"
		}
		members = append(members, member("Deprecated", jen.Lit(text)))
	}
	if len(members) == 1 {
		return jen.Qual(apiPath, "VersionInfo").Values(members...)
	}
	return literal(jen.Qual(apiPath, "VersionInfo"), members...)
}

// defaulter is the function that sets the defaults of the type, or nil where there is none.
func (p *printer) defaulter(t *model.Type) jen.Code {
	if f, ok := p.plan.Defaulters[t]; ok {
		return jen.Qual(f.Path, f.Name)
	}
	return nil
}
