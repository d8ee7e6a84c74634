// Package deepcopy emits zz_generated.deepcopy.go with DeepCopyInto, DeepCopy and, for kinds, DeepCopyObject, under the
// names and signatures of code-generator's deepcopy-gen. A copy shares no memory with its original. The emitter reports
// a field that it can't copy at the field's line. It knows the plan, the model, emit and gocode.
package deepcopy

import (
	"slices"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

// Emitter returns the emitter of deep copies.
func Emitter() emit.Emitter {
	e := gocode.Emitter("deepcopy", "DeepCopyInto, DeepCopy and DeepCopyObject for types",
		func(p *plan.Plan, pkg *model.Package) *gocode.File { return copies(p, pkg).file })
	// What can't be copied shows on the way through a type, which is the way of the copy.
	e.Faults = emit.FaultsOf(func(p *plan.Plan, pkg *model.Package) diag.Errors { return copies(p, pkg).errs })
	return e
}

// copies makes the methods of the package's types, in the order of their names: moving a declaration changes nothing.
func copies(p *plan.Plan, pkg *model.Package) *copier {
	file := gocode.New(p.Program, pkg)
	c := &copier{file: file, shapes: shapes{}, refused: map[model.Position]bool{}}
	for _, t := range slices.SortedFunc(slices.Values(pkg.Types), plan.ByName) {
		m := methods{copier: c, file: file, t: t}
		if generates(t) {
			m.into()
			m.deepCopy()
		}
		m.interfaces()
	}
	return c
}
