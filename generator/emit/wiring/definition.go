package wiring

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
)

// define prints the function that returns a resource's Definition.
func (p *printer) define(f *jen.File, r *model.Resource, served []model.ResourceVersion) {
	if !r.WithoutStorage() && p.plan.Serving[r].Storage == nil {
		return // the plan has the fault
	}
	var params []jen.Code
	if p.scoped {
		params = append(params, jen.Id("scope").Qual(conversionPath, "Scope"))
	}
	definition := jen.Qual(registryPath, "Definition").Types(pointer(r.Hub))
	f.Commentf("define%s is the resource %s.", r.Kind, r.Plural)
	f.Func().Id("define" + r.Kind).Params(params...).Add(definition).Block(jen.Return(literal(definition,
		member("Group", jen.Lit(p.group.Name)),
		member("Names", names(r)),
		member("Scope", scope(r)),
		member("New", gocode.Constructor(r.Hub)),
		member("Versions", p.versions(r, served)),
		storage(r),
		storagePrefix(r),
		p.strategy(r),
		p.subresources(r),
		p.extensions(r),
		p.selectable(r),
	)))
}

// storage prints the storage version; nothing is stored of some kinds.
func storage(r *model.Resource) jen.Code {
	if r.WithoutStorage() {
		return nil
	}
	return member("Storage", jen.Lit(r.Storage.Name))
}

// storagePrefix prints where keys are, where that was said.
func storagePrefix(r *model.Resource) jen.Code {
	if r.StoragePrefix == "" || r.WithoutStorage() {
		return nil
	}
	return member("StoragePrefix", jen.Lit(r.StoragePrefix))
}

func names(r *model.Resource) jen.Code {
	members := []jen.Code{
		member("Kind", jen.Lit(r.Kind)),
		member("ListKind", jen.Lit(r.ListKind)),
		member("Plural", jen.Lit(r.Plural)),
		member("Singular", jen.Lit(r.Singular)),
	}
	if len(r.ShortNames) > 0 {
		members = append(members, member("ShortNames", stringList(r.ShortNames)))
	}
	if len(r.Categories) > 0 {
		members = append(members, member("Categories", stringList(r.Categories)))
	}
	return literal(jen.Qual(apiPath, "Names"), members...)
}

func scope(r *model.Resource) jen.Code {
	if r.ClusterScoped {
		return jen.Qual(apiPath, "Cluster")
	}
	return jen.Qual(apiPath, "Namespaced")
}

func stringList(values []string) jen.Code { return jen.Index().String().Values(literals(values)...) }

func literals(values []string) (out []jen.Code) {
	for _, v := range values {
		out = append(out, jen.Lit(v))
	}
	return out
}

// copyField is the statement that copies a field deeply.
func copyField(f *model.Field) jen.Code {
	from, to := jen.Id("from").Dot(f.Name), jen.Id("to").Dot(f.Name)
	t := f.Type
	hasInto := t.DeepCopy == model.DeepCopyGenerate || t.DeepCopy == model.DeepCopyExisting
	switch {
	case hasInto:
		return from.Dot("DeepCopyInto").Call(jen.Op("&").Add(to))
	case t.Form == model.Pointer && t.Elem.DeepCopy != model.DeepCopyNone && t.Elem.Package != nil:
		return to.Op("=").Add(from.Dot("DeepCopy").Call())
	case t.Form == model.Basic:
		return to.Op("=").Add(from)
	default:
		return to.Op("=").Id("from").Dot("DeepCopy").Call().Dot(f.Name)
	}
}

// zero is the zero value of a kind's field, as an expression.
func zero(kind *model.Type, f *model.Field) jen.Code {
	switch t := f.Type; {
	case t.Form == model.Struct && t.Package != nil && len(t.TypeArgs) == 0:
		return jen.Qual(t.Package.Path, t.Name).Values()
	case t.Form == model.Pointer, t.Form == model.Map, t.Form == model.Slice, t.Form == model.Interface:
		return jen.Nil()
	}
	return jen.New(jen.Qual(kind.Package.Path, kind.Name)).Dot(f.Name)
}
