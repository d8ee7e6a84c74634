// Package deepcopy emits zz_generated.deepcopy.go with DeepCopyInto, DeepCopy and, for kinds, DeepCopyObject, under the
// names and signatures of code-generator's deepcopy-gen. A copy shares no memory with its original. The emitter reports
// a field that it can't copy at the field's line. It knows the plan, the model, emit and gocode.
package deepcopy

import (
	"slices"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

// FileName is the file that is emitted, as users know it.
const FileName = "zz_generated.deepcopy.go"

// Emitter returns the emitter of deep copies.
func Emitter() emit.Emitter {
	return emit.Emitter{
		Name:  "deepcopy",
		Doc:   "DeepCopyInto, DeepCopy and DeepCopyObject for types",
		Files: []string{FileName},
		Emit:  emitAll,
	}
}

func emitAll(p *plan.Plan) ([]emit.File, error) {
	return gocode.Files(p, FileName, func(pkg *model.Package) (*gocode.File, diag.Errors) {
		file := gocode.New(p.Program, pkg)
		return file, emitPackage(file)
	})
}

// emitPackage writes the methods of the package's types, in the order of their names: moving a declaration changes
// nothing.
func emitPackage(file *gocode.File) diag.Errors {
	c := &copier{file: file, shapes: shapes{}, refused: map[model.Position]bool{}}
	for _, t := range slices.SortedFunc(slices.Values(file.Package().Types), plan.ByName) {
		m := methods{copier: c, file: file, t: t}
		if generates(t) {
			m.into()
			m.deepCopy()
		}
		m.interfaces()
	}
	return c.errs
}
