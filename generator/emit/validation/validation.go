// Package validation emits zz_generated.validations.go: for each type of a version package that has rules, or holds
// values that have, a function Validate_X of the form that code-generator's validation-gen gives it, with plain checks
// in place of a schema that is interpreted. The rules are the model's, whichever grammar they were written in. Values
// that an update doesn't change are not checked again. It knows the model, emit and gocode.
package validation

import (
	"sort"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

// FileName is the file that is emitted, as users know it.
const FileName = "zz_generated.validations.go"

// The packages that emitted code imports.
const (
	contextPath   = "context"
	fieldPath     = "k8s.io/apimachinery/pkg/util/validation/field"
	operationPath = "k8s.io/apimachinery/pkg/api/operation"
	validatePath  = "k8s.io/apimachinery/pkg/api/validate"
	equalityPath  = "k8s.io/apimachinery/pkg/api/equality"
	safePath      = "k8s.io/apimachinery/pkg/api/safe"
	metaPath      = "k8s.io/apimachinery/pkg/apis/meta/v1"
	intstrPath    = "k8s.io/apimachinery/pkg/util/intstr"
)

// Imports are the packages of Kubernetes that emitted code may import.
func Imports() []string {
	return []string{fieldPath, operationPath, validatePath, equalityPath, safePath}
}

// Emitter returns the emitter of validation functions.
func Emitter() emit.Emitter {
	return emit.Emitter{
		Name: "validation",
		Doc: "Validate_X for types of a version that have rules: +k8s:minimum, +kubebuilder:validation:Pattern and " +
			"so on",
		Files: []string{FileName},
		Emit:  emitAll,

		Warnings: warnings,
	}
}

// Functions returns the functions that check the types which servers decode, by type: generated ones and hand-written
// ones in the home of the type's package.
func Functions(p *plan.Plan) map[*model.Type]plan.Func {
	functions := map[*model.Type]plan.Func{}
	for _, t := range p.WireTypes() {
		if home := t.Package.Home(); newGraph(p.Program, home).exported(t) {
			functions[t] = plan.Func{Path: home.Path, Name: functionName(t)}
		}
	}
	return functions
}

func functionName(t *model.Type) string { return "Validate_" + t.Name }

func emitAll(p *plan.Plan) ([]emit.File, error) {
	return gocode.Files(p, FileName, func(pkg *model.Package) (*gocode.File, diag.Errors) {
		if !validates(p.Program, pkg) {
			return nil, nil
		}
		w := newWriter(p.Program, pkg)
		w.conflicts()
		w.functions()
		return w.file, w.errs
	})
}

// validates reports whether a package gets validation functions: it has kinds, and either asks for the functions, or is
// a version that a server serves. Other packages have no use for them, and may require an older apimachinery.
func validates(program *model.Program, pkg *model.Package) bool {
	if pkg.ServedBy != nil {
		return false // they are written where it is served
	}
	source := pkg.Source()
	if !pkg.Validation && (!program.RuntimeAvailable || !source.HasGroup || source.Version == "") {
		return false
	}
	for _, t := range source.Types {
		if t.Kind != nil {
			return true
		}
	}
	return false
}

// inOrder returns a package's types with functions, by name.
func (g *graph) inOrder() []*model.Type {
	var out []*model.Type
	for _, t := range g.pkg.Source().Types {
		if g.exported(t) && !declared(g.pkg, functionName(t)) {
			out = append(out, t)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

func declared(pkg *model.Package, name string) bool {
	_, ok := pkg.Declared[name]
	return ok
}

func newFile(program *model.Program, pkg *model.Package) *gocode.File {
	return gocode.New(program, pkg, "ctx", "op", "fldPath", "path", "old", "oldObj", "errs", countSet, inOrder, byKeys,
		sameJSON)
}
