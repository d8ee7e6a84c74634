// Package registration decides how the types of a package get into a scheme. All emitters go by it. It knows diag and
// model.
package registration

import (
	"go/token"
	"slices"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
)

const runtimePath = "k8s.io/apimachinery/pkg/runtime"

// LocalSchemeBuilder is the variable that generated functions of a package register with, where the registration of the
// package is generated.
const LocalSchemeBuilder = "localSchemeBuilder"

// Registration says how the types of a package get into a scheme. It is the same whether or not files are to be written
// for the package.
type Registration struct {
	// Generated: apigen writes the registration, and declares AddToScheme and localSchemeBuilder there.
	Generated bool
	// Function is the name of the function that adds the package's types to a scheme: AddToScheme or Install. It is
	// empty if the package has neither, and gets neither.
	Function string
	// Builder is the variable that generated functions register with. Where it is empty, the hand-written registration
	// calls RegisterConversions and RegisterDefaults itself.
	Builder string
	// Other is the hand-written function because of which nothing is generated though generated code can't call it:
	// AddMetaToScheme, or an Install with another signature. It is nil if there is none.
	Other *model.Func
	// Types are those that the scheme knows, and Initial the functions that a generated registration begins with.
	Types   []*model.Type
	Initial []string
}

// Of returns the registration of a package. defaults reports whether apigen writes functions of defaults there.
func Of(pkg *model.Package, defaults bool) *Registration {
	function, other := registeredByHand(pkg)
	types := schemeTypes(pkg)
	r := &Registration{Function: function, Builder: pkg.LocalSchemeBuilder, Other: other}
	r.Generated = function == "" && other == nil && !pkg.Declares("Install") && pkg.HasGroup && pkg.ServedBy == nil &&
		len(types) > 0 && (!pkg.RegistersInInit || len(pkg.ConversionPeers) > 0)
	if r.Generated {
		r.Function, r.Types, r.Initial = "AddToScheme", types, initial(pkg, defaults)
		if r.Builder == "" {
			r.Builder = LocalSchemeBuilder
		}
	}
	return r
}

// Faults keep the registration of the package from being generated.
func (r *Registration) Faults(pkg *model.Package) (out diag.Errors) {
	if !r.Generated {
		return nil
	}
	if pos, taken := pkg.Declared[LocalSchemeBuilder]; taken && pkg.LocalSchemeBuilder != LocalSchemeBuilder {
		out.Add(pos, "%s is the name by which functions are registered: make it a *runtime.SchemeBuilder, or give "+
			"it another name", LocalSchemeBuilder)
	}
	// A kind that only a marker of clients makes one has no DeepCopyObject.
	bare := slices.IndexFunc(pkg.Types, func(t *model.Type) bool {
		return t.Kind != nil && t.Kind.Client != nil && !t.IsObject()
	})
	if bare >= 0 {
		out.Add(pkg.Types[bare].Pos, "kind %s is marked +genclient, and is no object: mark it with "+
			"+kubebuilder:object:root=true or +k8s:deepcopy-gen:interfaces=%s.Object", pkg.Types[bare].Name,
			runtimePath)
	}
	return out
}

// initial are the functions that the scheme builder begins with. Conversions register themselves where they are
// emitted; defaults are registered by a hand-written addDefaultingFuncs, by custom, or else here.
func initial(pkg *model.Package, defaults bool) []string {
	functions := []string{"addKnownTypes"}
	switch {
	case pkg.Declares("addDefaultingFuncs"):
		functions = append(functions, "addDefaultingFuncs")
	case pkg.Declares("RegisterDefaults") || defaults:
		functions = append(functions, "RegisterDefaults")
	}
	return functions
}

// CallFaults keep generated code from adding the package's types to a scheme: there is no Function.
func (r *Registration) CallFaults(pkg *model.Package) (out diag.Errors) {
	const write = "write a func AddToScheme(scheme *runtime.Scheme) error"
	switch {
	case r.Function != "":
	case r.Other == nil:
		out.Add(pkg.Pos, "generated code calls AddToScheme, and package %s has none: %s that adds its types to the "+
			"scheme", pkg.Path, write)
	default:
		remedy := write + " that calls it"
		if fitsScheme(r.Other) {
			remedy = "rename this function to AddToScheme, or " + remedy
		}
		out.Add(r.Other.Pos, "generated code calls AddToScheme, and apigen generates none for package %s because %s "+
			"registers its types: %s", pkg.Path, r.Other.Name, remedy)
	}
	return out
}

// registeredByHand returns the hand-written function that registers the package's types: its name, if generated code
// can call it, and else the function.
func registeredByHand(pkg *model.Package) (name string, other *model.Func) {
	if pkg.Declares("AddToScheme") {
		return "AddToScheme", nil
	}
	if pkg.Declares("Install") {
		switch install := pkg.Func("Install"); {
		case install != nil && !fitsScheme(install):
			return "", install
		case pkg.Type("Install") == nil:
			return "Install", nil
		}
	}
	for _, f := range pkg.Funcs {
		if strings.HasPrefix(f.Name, "Add") && slices.ContainsFunc(f.Params, isScheme) &&
			(other == nil || !fitsScheme(other)) {
			other = f
		}
	}
	return "", other
}

func fitsScheme(f *model.Func) bool {
	return len(f.Params) == 1 && !f.Variadic && isScheme(f.Params[0]) && len(f.Results) == 1 &&
		f.Results[0].Name == "error" && f.Results[0].Package == nil
}

func isScheme(t *model.Type) bool {
	return t.Form == model.Pointer && t.Package == nil && model.IsNamed(t.Elem, runtimePath, "Scheme")
}

// schemeTypes are the types that the scheme knows: kinds, their lists, and other exported types that have a TypeMeta
// and are a runtime.Object. They are sorted by name.
func schemeTypes(pkg *model.Package) []*model.Type {
	var types []*model.Type
	for _, t := range pkg.Types {
		if t.Kind != nil || t.ListOf != nil || t.IsObject() && token.IsExported(t.Name) {
			types = append(types, t)
		}
	}
	slices.SortFunc(types, func(a, b *model.Type) int { return strings.Compare(a.Name, b.Name) })
	return types
}
