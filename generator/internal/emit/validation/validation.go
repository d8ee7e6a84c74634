// Package validation emits zz_generated.validations.go: a function Validate_X for each type that the plan gives one,
// with the signature that code-generator's validation-gen uses, and plain checks in place of a schema that is
// interpreted. The functions don't check values again that an update leaves unchanged. The package knows emit, gocode,
// model, schema and the plan.
package validation

import (
	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/plan/check"
	"apigen.dev/generator/internal/schema"
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
		Files:    []string{FileName},
		Faults:   emit.FaultsOf((*plan.Plan).ValidationFaults),
		Emit:     func(p *plan.Plan) ([]emit.File, error) { return gocode.Files(p, FileName, write) },
		Warnings: warnings,
	}
}

func write(p *plan.Plan, pkg *model.Package) *gocode.File {
	w := newWriter(p, pkg)
	w.functions()
	return w.file
}

// warnings report rules that clients read in the schema and that no server checks, since the JSON of the value isn't
// what its Go type says. Only users with a server are warned.
func warnings(program *plan.Plan) []diag.Error {
	var out diag.Errors
	for _, group := range program.Wired() {
		for _, v := range group.ServedVersions() {
			for _, pkg := range v.Packages {
				if program.Writes(pkg) {
					warnOf(pkg, &out)
				}
			}
		}
	}
	return out
}

func warnOf(pkg *model.Package, out *diag.Errors) {
	w := warner{out: out, texts: pkg.HasCustom(), types: schema.New(schema.CRD)}
	for _, t := range pkg.Types {
		w.warn(t, &t.Schema, t.Name)
		if pkg.HasCustom() {
			unkept(out, t)
		}
		for _, f := range t.Fields {
			w.warn(f.Type, &f.Schema, t.Name+"."+f.Name)
		}
	}
}

// warner warns of rules that the server doesn't check.
type warner struct {
	out *diag.Errors
	// texts: the server checks the text of values whose JSON is their own, as the wiring has it.
	texts bool
	types *schema.Resolver
}

func (w *warner) warn(t *model.Type, s *model.Schema, name string) {
	at := t.Pointee()
	if at == nil || w.texts && check.IsText(w.types.Type(at)) {
		return
	}
	for i := range s.Rules {
		if r := &s.Rules[i]; check.Unchecked(r, at) {
			w.out.Add(r.Pos, "marker \"+%s\" of %s is in the schema, and the server does not check it: the JSON of %s "+
				"is its own", r.Marker, name, at.Name)
		}
	}
}
