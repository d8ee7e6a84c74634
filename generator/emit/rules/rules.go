// Package rules emits, for each API group, the CEL rules of its kinds (+kubebuilder:validation:XValidation) as values
// that the wiring runs on every write. It knows emit, gocode, model and the plan, and prints values of runtime/cel.
package rules

import (
	"fmt"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/plan"
)

// FileName is the base name of the file that the emitter writes into a group's wiring package.
const FileName = "zz_generated.rules.go"

// Emitter returns the emitter of CEL rules.
func Emitter() emit.Emitter {
	return emit.Emitter{
		Name:     "rules",
		Doc:      "the rules in CEL of each group's kinds (+kubebuilder:validation:XValidation)",
		Files:    []string{FileName},
		Emit:     Emit,
		Warnings: warnings,
	}
}

// Imports are the packages that emitted code imports, beyond those that all wiring does.
func Imports() []string {
	return []string{gocode.ImportPath("cel")}
}

// Emit returns a file for each group with wiring that has rules. Faults of rules that the user can mend are errors.
func Emit(p *plan.Plan) ([]emit.File, error) {
	var errs diag.Errors
	for _, f := range p.Rules.Findings {
		if f.Fixable && !f.Advice {
			errs = append(errs, diag.Error{Pos: f.Rule.Pos, Message: f.Text, Lenient: true})
		}
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	var files []emit.File
	for _, g := range p.WiredGroups() {
		made, err := file(p, g)
		if err != nil {
			return nil, fmt.Errorf("rules of %s: %w", g.Name, err)
		}
		if made != nil {
			files = append(files, *made)
		}
	}
	return files, nil
}

// warnings report advice about rules that are run, and the faults of rules in packages that the user can't edit, which
// are not run.
func warnings(p *plan.Plan) []diag.Error {
	var out diag.Errors
	for _, f := range p.Rules.Findings {
		switch {
		case f.Advice:
			out.Add(f.Rule.Pos, "%s", f.Text)
		case !f.Fixable:
			out.Add(f.Rule.Pos, "%s; the rule is not run", f.Text)
		}
	}
	return out
}
