// Package register emits zz_generated.register.go: the group and version of a package, and AddToScheme for its kinds,
// under the names that clients of API packages use. It declares no name that the package declares by hand, and writes
// nothing for a package with a registration of its own: the plan says which. It knows the plan, the model, emit and
// gocode.
package register

import (
	"apigen.dev/generator/diag"
	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

// FileName is the file that is emitted, as users know it.
const FileName = "zz_generated.register.go"

const runtimePath = "k8s.io/apimachinery/pkg/runtime"

// Emitter returns the emitter of registrations.
func Emitter() emit.Emitter {
	return emit.Emitter{
		Name:  "register",
		Doc:   "SchemeGroupVersion, AddToScheme and its companions for packages of kinds",
		Files: []string{FileName},
		Emit:  emitAll,
	}
}

func emitAll(p *plan.Plan) ([]emit.File, error) {
	return gocode.Files(p, FileName, func(pkg *model.Package) (*gocode.File, diag.Errors) {
		r := p.Registrations[pkg]
		if !r.Generated {
			return nil, nil
		}
		if errs := obstacles(pkg); len(errs) > 0 {
			return nil, errs
		}
		w := writer{file: gocode.New(p.Program, pkg, symbols...), pkg: pkg, plan: r}
		w.groupVersion()
		w.qualifiers()
		w.schemeBuilder()
		w.init(r.Initial)
		w.knownTypes()
		return w.file, nil
	})
}

func obstacles(pkg *model.Package) diag.Errors {
	var errs diag.Errors
	if pos, taken := pkg.Declared[plan.LocalSchemeBuilder]; taken && pkg.LocalSchemeBuilder != plan.LocalSchemeBuilder {
		errs.Add(pos, "%s is the name by which functions are registered: make it a *runtime.SchemeBuilder, or give "+
			"it another name", plan.LocalSchemeBuilder)
	}
	if bare := bareKind(pkg); bare != nil {
		errs.Add(bare.Pos, "kind %s is marked +genclient, and is no object: mark it with "+
			"+kubebuilder:object:root=true or +k8s:deepcopy-gen:interfaces=%s.Object", bare.Name, runtimePath)
	}
	return errs
}

// bareKind is a kind that only a marker of clients makes one, so that it has no DeepCopyObject; nil where there is
// none.
func bareKind(pkg *model.Package) *model.Type {
	for _, t := range pkg.Types {
		if t.Kind != nil && t.Kind.Client != nil && !t.IsObject() {
			return t
		}
	}
	return nil
}
