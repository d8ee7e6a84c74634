// Package register emits zz_generated.register.go: the group and version of a package, and AddToScheme for its kinds,
// under the names that clients of API packages use. What the package declares by hand is left to it; one that declares
// AddToScheme gets nothing. It knows the model, emit, gocode, and from package defaults whether there are defaults to
// register.
package register

import (
	"go/token"
	"sort"
	"strings"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/defaults"
	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

// FileName is the file that is emitted, as users know it.
const FileName = "zz_generated.register.go"

// LocalSchemeBuilder is the variable that generated functions of a package register with, where this emitter writes the
// package's registration.
const LocalSchemeBuilder = "localSchemeBuilder"

const (
	runtimePath = "k8s.io/apimachinery/pkg/runtime"
	schemaPath  = "k8s.io/apimachinery/pkg/runtime/schema"
	metaPath    = "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Emitter returns the emitter of registrations.
func Emitter() emit.Emitter {
	return emit.Emitter{
		Name: "register",
		Doc:  "SchemeGroupVersion, AddToScheme and its companions for packages of kinds",
		Owns: func(base string) bool { return base == FileName },
		Emit: emitAll,
	}
}

// Emits tells whether the package's registration is emitted, and LocalSchemeBuilder with it.
func Emits(pkg *model.Package) bool {
	if !pkg.Output || !pkg.HasGroup || len(objects(pkg)) == 0 {
		return false
	}
	if pkg.RegistersInInit && len(pkg.ConversionPeers) == 0 {
		return false
	}
	return !declared(pkg, "AddToScheme") && !declared(pkg, "Install") && !registersItself(pkg)
}

// registersItself tells whether the package exports a function of its own that adds to a scheme, as apimachinery's
// AddMetaToScheme and AddToGroupVersion do.
func registersItself(pkg *model.Package) bool {
	for _, f := range pkg.Funcs {
		if !strings.HasPrefix(f.Name, "Add") {
			continue
		}
		for _, param := range f.Params {
			if param.Form == model.Pointer && param.Elem.Name == "Scheme" && param.Elem.Package != nil && param.Elem.Package.Path == runtimePath {
				return true
			}
		}
	}
	return false
}

func emitAll(p *plan.Plan) ([]emit.File, error) {
	return gocode.Files(p, FileName, func(pkg *model.Package) (*gocode.File, emit.Errors) {
		if !Emits(pkg) {
			return nil, nil
		}
		if errs := obstacles(pkg); len(errs) > 0 {
			return nil, errs
		}
		w := writer{file: gocode.New(p.Program, pkg, symbols...), pkg: pkg}
		w.groupVersion()
		w.qualifiers()
		w.schemeBuilder()
		w.init(initial(p.Program, pkg))
		w.knownTypes()
		return w.file, nil
	})
}

// obstacles are why a package's registration can't be emitted.
func obstacles(pkg *model.Package) emit.Errors {
	var errs emit.Errors
	if pos, taken := pkg.Declared[LocalSchemeBuilder]; taken && pkg.LocalSchemeBuilder != LocalSchemeBuilder {
		errs.Add(pos, "%s is the name by which functions are registered: make it a *runtime.SchemeBuilder, or give it another name", LocalSchemeBuilder)
	}
	if bare := bareKind(pkg); bare != nil {
		errs.Add(bare.Pos, "kind %s is marked +genclient, and is no object: mark it with +kubebuilder:object:root=true or +k8s:deepcopy-gen:interfaces=%s.Object", bare.Name, runtimePath)
	}
	return errs
}

// initial are the functions that the scheme builder begins with. Conversions register themselves where they are
// emitted; defaults are registered by a hand-written addDefaultingFuncs, by custom, or else here.
func initial(program *model.Program, pkg *model.Package) []string {
	functions := []string{"addKnownTypes"}
	switch {
	case declared(pkg, "addDefaultingFuncs"):
		functions = append(functions, "addDefaultingFuncs")
	case declared(pkg, "RegisterDefaults") || defaults.Emits(program, pkg):
		functions = append(functions, "RegisterDefaults")
	}
	return functions
}

// objects are the types that the scheme knows: kinds, their lists, and what else has a TypeMeta and is a
// runtime.Object. They are sorted by name.
func objects(pkg *model.Package) []*model.Type {
	var types []*model.Type
	for _, t := range pkg.Types {
		if t.Kind != nil || t.ListOf != nil || isObject(t) && token.IsExported(t.Name) {
			types = append(types, t)
		}
	}
	sort.Slice(types, func(i, j int) bool { return types[i].Name < types[j].Name })
	return types
}

// bareKind is a kind that only a marker of clients makes one, so that it has no DeepCopyObject; nil where there is none.
func bareKind(pkg *model.Package) *model.Type {
	for _, t := range pkg.Types {
		if t.Kind != nil && t.Kind.Client != nil && !isObject(t) {
			return t
		}
	}
	return nil
}

func isObject(t *model.Type) bool {
	if t.Form != model.Struct || !hasTypeMeta(t) {
		return false
	}
	for _, ref := range t.DeepCopyInterfaces {
		if ref.Path == runtimePath && ref.Name == "Object" {
			return true
		}
	}
	return t.Methods["DeepCopyObject"] != nil
}

func hasTypeMeta(t *model.Type) bool {
	for _, field := range t.Fields {
		if field.Embedded && field.Name == "TypeMeta" {
			return true
		}
	}
	return false
}

func declared(pkg *model.Package, name string) bool {
	_, ok := pkg.Declared[name]
	return ok
}
