package validation

import (
	"slices"

	"apigen.dev/generator/model"
	"apigen.dev/generator/schema"
)

// graph answers, for one package that functions are written for, which types have rules somewhere.
type graph struct {
	program *model.Program
	pkg     *model.Package
	reach   *model.Reach
	// builtIn: the kinds are of another module, and not controller-gen's.
	builtIn bool
}

func newGraph(program *model.Program, pkg *model.Package) *graph {
	g := &graph{program: program, pkg: pkg, builtIn: isBuiltIn(pkg)}
	g.reach = model.NewReach(g.has, g.inner)
	return g
}

// isBuiltIn tells packages that serve kinds as Kubernetes has its own: what +listType says of their lists is for who
// merges them, and elements that are there twice (addresses of a node, say, of one type) are kube-apiserver's to
// accept.
func isBuiltIn(pkg *model.Package) bool {
	return pkg.Serves != nil && !slices.ContainsFunc(pkg.Serves.Types,
		func(t *model.Type) bool { return t.Kind != nil && t.Kind.Kubebuilder })
}

// exported tells whether the type has a Validate_X in the graph's package: all of its own types have that have rules;
// of types of another module, the kinds that are served.
func (g *graph) exported(t *model.Type) bool {
	if t.Name == "" || t.Package != g.pkg.Source() || len(t.TypeArgs) > 0 || t.ListOf != nil || !validates(g.program,
		g.pkg) {
		return false
	}
	if g.pkg.Serves != nil && t.Kind == nil {
		return false
	}
	return declared(g.pkg, functionName(t)) || g.reaches(t)
}

// reaches tells whether values of the type, or anything in them, are checked.
func (g *graph) reaches(t *model.Type) bool { return g.reach.From(t) }

// has tells whether values of the type itself are checked, or of one of its fields.
func (g *graph) has(t *model.Type) bool {
	if ignored(t) {
		return false
	}
	if t.Name != "" && g.effective(t, schema.Enforced(t)) || t.Form == model.Struct && len(unions(t)) > 0 {
		return true
	}
	return slices.ContainsFunc(t.Fields, func(f *model.Field) bool {
		return accessible(g.pkg, t, f) && g.fieldEffective(f)
	})
}

// inner are the types of what the type holds, as far as checks go into it.
func (g *graph) inner(t *model.Type) []*model.Type {
	if ignored(t) {
		return nil
	}
	switch t.Form {
	case model.Pointer, model.Slice, model.Array:
		return []*model.Type{t.Elem}
	case model.Map:
		return []*model.Type{t.Key, t.Elem}
	case model.Struct:
		var types []*model.Type
		for _, f := range t.Fields {
			if accessible(g.pkg, t, f) && !f.Schema.Opaque {
				types = append(types, f.Type)
			}
		}
		return types
	}
	return nil
}

// ignored tells the types whose rules are not for objects of others: the metadata that every server checks by itself.
func ignored(t *model.Type) bool {
	if t == nil {
		return true
	}
	if t.Package == nil {
		return false
	}
	switch t.Package.Path {
	case metaPath:
		return t.Name == "TypeMeta" || t.Name == "ObjectMeta" || t.Name == "ListMeta"
	case "time", "encoding/json":
		return true
	}
	return false
}

// accessible tells whether a value of the field is on the wire, and the package may name it.
func accessible(pkg *model.Package, owner *model.Type, f *model.Field) bool {
	return f.Name != "_" && !f.Ignored && (f.Exported || owner.Package == pkg)
}
