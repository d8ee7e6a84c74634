package wiring

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
)

func (p *printer) define(f *jen.File, r *model.Resource, served []model.ResourceVersion) {
	if !r.WithoutStorage() && p.plan.Serving[r].Storage == nil {
		return // the plan has the fault
	}
	var storage, prefix, scope = "", "", "api.Namespaced"
	if !r.WithoutStorage() { // nothing is stored of others
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

func copyField(f *model.Field) jen.Code {
	from, to := "from."+f.Name, "to."+f.Name
	t := f.Type
	switch {
	case t.DeepCopy == model.DeepCopyGenerate || t.DeepCopy == model.DeepCopyExisting:
		return gocode.Code(from + ".DeepCopyInto(&" + to + ")")
	case t.Form == model.Pointer && t.Elem.DeepCopy != model.DeepCopyNone && t.Elem.Package != nil:
		return gocode.Code(to + " = " + from + ".DeepCopy()")
	case t.Form == model.Basic:
		return gocode.Code(to + " = " + from)
	default:
		return gocode.Code(to + " = from.DeepCopy()." + f.Name)
	}
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
