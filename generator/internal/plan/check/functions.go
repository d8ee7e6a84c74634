// Package check decides which types have validation functions, and which values within them are checked: those
// that a rule of a marker applies to, whichever grammar it was written in. It is a part of the plan, and knows diag,
// model and schema.
package check

import (
	"slices"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
)

// Functions are the validation functions of a package, and what they check.
type Functions struct {
	program *model.Program
	pkg     *model.Package
	reach   *model.Reach[*model.Type]
	// builtIn: the kinds are those of another module, without controller-gen's markers.
	builtIn bool
	// custom: there are kinds that are treated as their custom resources would be.
	custom bool
}

// New decides the validation functions of a package.
func New(program *model.Program, pkg *model.Package) *Functions {
	g := &Functions{program: program, pkg: pkg, builtIn: isBuiltIn(pkg), custom: pkg.HasCustom()}
	g.reach = model.NewReach(g.has, g.inner)
	return g
}

// Generated returns the types that functions are generated for, by name. Others have hand-written ones.
func (g *Functions) Generated() []*model.Type {
	var out []*model.Type
	for _, t := range g.pkg.Source().Types {
		if _, declared := g.pkg.Declared[FunctionName(t)]; g.Exported(t) && !declared {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b *model.Type) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Conflicts reports hand-written functions that have the name of a validation function and another signature.
func (g *Functions) Conflicts() diag.Errors {
	var out diag.Errors
	for _, t := range g.pkg.Source().Types {
		function := FunctionName(t)
		pos, taken := g.pkg.Declared[function]
		f := g.pkg.Func(function)
		if !taken || !g.Exported(t) || f != nil && len(f.Params) == 5 && len(f.Results) == 1 {
			continue
		}
		name, advice := t.Name, "give this another name"
		if g.pkg.Serves != nil {
			name = t.Package.Name + "." + t.Name
			advice = "call this ValidateObject_" + t.Name + ", which the server calls beside it"
		}
		out.Add(pos, "%s is the name of the function that checks the rules of %s: %s, or give it the signature "+
			"func(ctx context.Context, op operation.Operation, fldPath *field.Path, obj, oldObj *%s) field.ErrorList",
			function, t.Name, advice, name)
	}
	return out
}

// isBuiltIn reports whether a package serves kinds of Kubernetes' own style. Their +listType markers define how lists
// are merged, and kube-apiserver accepts duplicate elements (addresses of a node of one type, say).
func isBuiltIn(pkg *model.Package) bool {
	return pkg.Serves != nil && !slices.ContainsFunc(pkg.Serves.Types,
		func(t *model.Type) bool { return t.Kind != nil && t.Kind.Kubebuilder })
}

// Exported reports whether the type has a Validate_X in the package. All types of the package with rules have
// one; of types of another module, only the served kinds.
func (g *Functions) Exported(t *model.Type) bool {
	if t.Name == "" || t.Package != g.pkg.Source() || len(t.TypeArgs) > 0 || t.Generic || t.ListOf != nil ||
		!g.exist() {
		return false
	}
	if g.pkg.Serves != nil && t.Kind == nil {
		return false
	}
	_, declared := g.pkg.Declared[FunctionName(t)]
	return declared || g.Reaches(t)
}

// Reaches reports whether values of the type, or values inside of them, are checked.
func (g *Functions) Reaches(t *model.Type) bool { return g.reach.From(t) }

func (g *Functions) has(t *model.Type) bool {
	if Ignored(t) {
		return false
	}
	if t.Name != "" && g.Effective(t, schema.Enforced(t)) || t.Form == model.Struct && len(Unions(t)) > 0 {
		return true
	}
	return slices.ContainsFunc(t.Fields, func(f *model.Field) bool {
		return Accessible(g.pkg, t, f) && g.FieldEffective(f)
	})
}

func (g *Functions) inner(t *model.Type) []*model.Type {
	if Ignored(t) {
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
			if Accessible(g.pkg, t, f) && !f.Schema.HidesType() {
				types = append(types, f.Type)
			}
		}
		return types
	}
	return nil
}

// Ignored reports whether a type's rules are not checked in objects that hold it: every server checks the metadata by
// itself.
func Ignored(t *model.Type) bool {
	if t == nil {
		return true
	}
	if t.Package == nil {
		return false
	}
	switch t.Package.Path {
	case schema.MetaPath:
		return t.Name == "TypeMeta" || t.Name == "ObjectMeta" || t.Name == "ListMeta"
	case "time", "encoding/json":
		return true
	}
	return false
}

// Accessible reports whether a field is on the wire and visible to the package.
func Accessible(pkg *model.Package, owner *model.Type, f *model.Field) bool {
	return f.Name != "_" && !f.Ignored && (f.Exported || owner.Package == pkg)
}

// exist reports whether the package gets validation functions: it has kinds, and either asks for the functions, or is
// a version that a server serves. Other packages have no use for them, and may require an older apimachinery.
func (g *Functions) exist() bool {
	if g.pkg.ServedBy != nil {
		return false // they are written where it is served
	}
	source := g.pkg.Source()
	if !g.pkg.Validation && (!g.program.RuntimeAvailable || !source.HasGroup || source.Version == "") {
		return false
	}
	return slices.ContainsFunc(source.Types, func(t *model.Type) bool { return t.Kind != nil })
}

// FunctionName is the name of the function that checks values of a type.
func FunctionName(t *model.Type) string { return "Validate_" + t.Name }
