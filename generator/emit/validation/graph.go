package validation

import (
	"slices"

	"apigen.dev/generator/model"
	"apigen.dev/generator/schema"
)

// graph knows which types have rules, for one package with validation functions.
type graph struct {
	program *model.Program
	pkg     *model.Package
	reach   *model.Reach
	// builtIn: the kinds are those of another module, without controller-gen's markers.
	builtIn bool
}

func newGraph(program *model.Program, pkg *model.Package) *graph {
	g := &graph{program: program, pkg: pkg, builtIn: isBuiltIn(pkg)}
	g.reach = model.NewReach(g.has, g.inner)
	return g
}

// isBuiltIn reports whether a package serves kinds of Kubernetes' own style. Their +listType markers define how lists
// are merged, and kube-apiserver accepts duplicate elements (addresses of a node of one type, say).
func isBuiltIn(pkg *model.Package) bool {
	return pkg.Serves != nil && !slices.ContainsFunc(pkg.Serves.Types,
		func(t *model.Type) bool { return t.Kind != nil && t.Kind.Kubebuilder })
}

// exported reports whether the type has a Validate_X in the graph's package. All types of the package with rules have
// one; of types of another module, only the served kinds.
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

// reaches reports whether values of the type, or values inside of them, are checked.
func (g *graph) reaches(t *model.Type) bool { return g.reach.From(t) }

// has reports whether values of the type itself, or one of its fields, are checked.
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

// inner returns the types inside of a type that checks descend into.
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

// ignored reports whether a type's rules are not checked in objects that hold it: every server checks the metadata by
// itself.
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

// accessible reports whether a field is on the wire and visible to the package.
func accessible(pkg *model.Package, owner *model.Type, f *model.Field) bool {
	return f.Name != "_" && !f.Ignored && (f.Exported || owner.Package == pkg)
}
