// Package validation emits zz_generated.validations.go: a function Validate_X for each type that the plan gives one,
// with the signature that code-generator's validation-gen uses, and plain checks in place of a schema that is
// interpreted. The functions don't check values again that an update leaves unchanged. The package knows emit, gocode,
// model, schema and the plan.
package validation

import (
	"apigen.dev/generator/diag"
	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

// FileName is the file that is emitted, as users know it.
const FileName = "zz_generated.validations.go"

// Imports are the packages of Kubernetes that emitted code may import.
func Imports() (paths []string) {
	for _, name := range []string{"equality", "field", "intstr", "operation", "safe", "validate"} {
		paths = append(paths, gocode.ImportPath(name))
	}
	return paths
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

func emitAll(p *plan.Plan) ([]emit.File, error) {
	return gocode.Files(p, FileName, func(pkg *model.Package) (*gocode.File, diag.Errors) {
		w := newWriter(p, pkg)
		w.functions()
		return w.file, w.checks.Conflicts()
	})
}
