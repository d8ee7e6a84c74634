// Package rules emits, for each API group, the CEL rules of its kinds (+kubebuilder:validation:XValidation) as values
// that the wiring runs on every write, and judges them before: a rule that doesn't type-check, costs too much or
// compares what can't be compared is an error at its marker. It uses runtime/cel for that, which is what runs the rules
// later.
package rules

import (
	"fmt"
	"slices"
	"strings"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/emit"
	"apigen.dev/generator/model"
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
	return []string{celPath}
}

// Emit returns a file for each group with wiring that has rules. Faults of rules are errors where the user can mend
// them.
func Emit(p *plan.Plan) ([]emit.File, error) {
	var errs diag.Errors
	faulty := map[model.Position]bool{}
	for _, f := range judge(p) {
		if f.advice {
			continue
		}
		faulty[f.rule.Pos] = true
		if f.fixable {
			errs = append(errs, diag.Error{Pos: f.rule.Pos, Message: f.text, Lenient: true})
		}
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	var files []emit.File
	for _, g := range p.WiredGroups() {
		made, err := file(p.Program, g, faulty)
		if err != nil {
			return nil, fmt.Errorf("rules of %s: %w", g.Name, err)
		}
		if made != nil {
			files = append(files, *made)
		}
	}
	return files, nil
}

// warnings are what is odd about rules that are run, and the faults of those in packages that the user can't edit,
// which are not run.
func warnings(p *plan.Plan) []diag.Error {
	var out diag.Errors
	for _, f := range judge(p) {
		switch {
		case f.advice:
			out.Add(f.rule.Pos, "%s", f.text)
		case !f.fixable:
			out.Add(f.rule.Pos, "%s; the rule is not run", f.text)
		}
	}
	return out
}

// Functions returns the functions of the groups' wiring packages that return the rules of a kind in one version, by its
// type.
func Functions(p *plan.Plan) map[*model.Type]string {
	faulty := map[model.Position]bool{}
	if foreign(p.Program) {
		for _, f := range judge(p) {
			faulty[f.rule.Pos] = faulty[f.rule.Pos] || !f.advice
		}
	}
	b := newBuilder(faulty)
	functions := map[*model.Type]string{}
	for _, t := range p.WireTypes() {
		if b.kind(t).HasRules() {
			functions[t] = function(t)
		}
	}
	return functions
}

func function(t *model.Type) string { return "rules" + upperFirst(t.Package.Name) + t.Name }

// foreign tells whether there may be faults that are no errors: of rules in packages that the user can't edit, or in a
// lenient run.
func foreign(p *model.Program) bool {
	if p.Lenient {
		return true
	}
	b := newBuilder(nil)
	for _, g := range p.Groups {
		for _, r := range g.Resources {
			for _, v := range r.Versions {
				if b.kind(v.Type).HasRules() && !b.editable(v.Type.Package) {
					return true
				}
			}
		}
	}
	return false
}

// editable tells whether the rules that were met are in the module of a package, and that is the user's own.
func (b *builder) editable(home *model.Package) bool {
	for _, rules := range b.sources {
		if slices.ContainsFunc(rules, func(r model.CELRule) bool { return !editable(r.Pos, home) }) {
			return false
		}
	}
	return true
}

// editable tells whether a position is in the module of a package, and that is the user's own.
func editable(pos model.Position, home *model.Package) bool {
	return home.Module == nil || home.Module.Own && (home.Module.Dir == "" || strings.HasPrefix(pos.Filename,
		home.Module.Dir))
}
