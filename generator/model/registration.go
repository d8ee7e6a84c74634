package model

import (
	"go/token"
	"slices"
	"strings"
)

const runtimePath = "k8s.io/apimachinery/pkg/runtime"

// LocalSchemeBuilder is the variable that generated functions of a package register with, where the registration of the
// package is generated.
const LocalSchemeBuilder = "localSchemeBuilder"

// Registration says how the types of a package get into a scheme. All emitters go by it.
type Registration struct {
	// Generated: apigen writes the registration, and declares AddToScheme and localSchemeBuilder there.
	Generated bool
	// Function is the name of the function that adds the package's types to a scheme: AddToScheme or Install. It is empty
	// where the package has neither, and gets neither.
	Function string
	// Builder is the variable that generated functions register with. Where it is empty, the hand-written registration
	// calls RegisterConversions and RegisterDefaults itself.
	Builder string
	// Other is the hand-written function because of which nothing is generated though generated code can't call it:
	// AddMetaToScheme, or an Install with another signature. It is nil where there is none.
	Other *Func
}

// Registration returns how the package's types get into a scheme. The answer is the same whether or not files are to be
// written for the package.
func (p *Package) Registration() Registration {
	function, other := p.registeredByHand()
	generated := function == "" && other == nil && !p.declares("Install") && p.HasGroup && p.ServedBy == nil &&
		len(p.SchemeTypes()) > 0 && (!p.RegistersInInit || len(p.ConversionPeers) > 0)
	r := Registration{Generated: generated, Function: function, Builder: p.LocalSchemeBuilder, Other: other}
	if generated {
		r.Function = "AddToScheme"
		if r.Builder == "" {
			r.Builder = LocalSchemeBuilder
		}
	}
	return r
}

// registeredByHand returns the hand-written function that registers the package's types: its name, if generated code can
// call it, and else the function.
func (p *Package) registeredByHand() (name string, other *Func) {
	if p.declares("AddToScheme") {
		return "AddToScheme", nil
	}
	if p.declares("Install") {
		switch install := p.Func("Install"); {
		case install != nil && !install.FitsScheme():
			return "", install
		case !slices.ContainsFunc(p.Types, func(t *Type) bool { return t.Name == "Install" }):
			return "Install", nil
		}
	}
	for _, f := range p.Funcs {
		if strings.HasPrefix(f.Name, "Add") && slices.ContainsFunc(f.Params, isScheme) && (other == nil || !other.FitsScheme()) {
			other = f
		}
	}
	return "", other
}

// FitsScheme tells whether the function is a func(*runtime.Scheme) error.
func (f *Func) FitsScheme() bool {
	return len(f.Params) == 1 && !f.Variadic && isScheme(f.Params[0]) && len(f.Results) == 1 && f.Results[0].Name == "error"
}

func isScheme(t *Type) bool {
	return t.Form == Pointer && t.Elem.Name == "Scheme" && t.Elem.Package != nil && t.Elem.Package.Path == runtimePath
}

func (p *Package) declares(name string) bool {
	_, ok := p.Declared[name]
	return ok
}

// SchemeTypes are the types that the scheme knows: kinds, their lists, and other exported types that have a TypeMeta and
// are a runtime.Object. They are sorted by name.
func (p *Package) SchemeTypes() []*Type {
	var types []*Type
	for _, t := range p.Types {
		if t.Kind != nil || t.ListOf != nil || t.IsObject() && token.IsExported(t.Name) {
			types = append(types, t)
		}
	}
	slices.SortFunc(types, func(a, b *Type) int { return strings.Compare(a.Name, b.Name) })
	return types
}

// IsObject tells whether the type is a struct with a TypeMeta that is, or is going to be, a runtime.Object.
func (t *Type) IsObject() bool {
	if t.Form != Struct || !slices.ContainsFunc(t.Fields, func(f *Field) bool { return f.Embedded && f.Name == "TypeMeta" }) {
		return false
	}
	object := func(ref Ref) bool { return ref.Path == runtimePath && ref.Name == "Object" }
	return slices.ContainsFunc(t.DeepCopyInterfaces, object) || t.Methods["DeepCopyObject"] != nil
}
