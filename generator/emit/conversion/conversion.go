// Package conversion emits zz_generated.conversion.go: functions that convert between the types of a hub and those of its
// spokes, field by field, under the names and signatures of conversion-gen. A package is a spoke where it says
// +k8s:conversion-gen=<internal package>, or where its group is served, has no internal package, and stores another
// version. Hand-written functions are found by name and signature and called. What a conversion would lose is an error at
// the field that says what to write.
//
// It knows the model, emit and gocode.
package conversion

import (
	"errors"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

const fileName = "zz_generated.conversion.go"

// Emitter returns the emitter of conversion functions.
func Emitter() emit.Emitter {
	return emit.Emitter{
		Name:     "conversion",
		Doc:      "conversions between versions: Convert_a_X_To_b_X, RegisterConversions",
		Owns:     func(base string) bool { return base == fileName },
		Emit:     emitFiles,
		Warnings: warnings,
	}
}

func emitFiles(p *plan.Plan) ([]emit.File, error) {
	var errs emit.Errors
	var files []emit.File
	tasks := planned(p.Program, &errs)
	checkPreserved(tasks, &errs)
	for _, t := range tasks {
		if !p.Writes(t.pkg) {
			continue
		}
		before := len(errs)
		file, err := t.emit(p, &errs)
		if err != nil {
			collect(&errs, t.pkg, err)
		}
		if file != nil && len(errs) == before {
			files = append(files, *file)
		}
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return files, nil
}

// Registers tells whether the package gets a RegisterConversions, or has it by hand.
func Registers(program *model.Program, pkg *model.Package) bool {
	if pkg.Func("RegisterConversions") != nil {
		return true
	}
	for _, t := range planned(program, &emit.Errors{}) {
		if t.pkg == pkg {
			return len(t.pairs)+len(t.explicit)+len(t.funcs.own) > 0
		}
	}
	return false
}

// collect adds an error of rendering to the others.
func collect(errs *emit.Errors, pkg *model.Package, err error) {
	var many emit.Errors
	if errors.As(err, &many) {
		*errs = append(*errs, many...)
		return
	}
	errs.Add(pkg.Pos, "%v", err)
}

// emit writes the file of one package, or nil where there is nothing to convert.
func (t *task) emit(p *plan.Plan, errs *emit.Errors) (*emit.File, error) {
	b := newBuild(t, gocode.New(p.Program, t.pkg, locals...), errs)
	b.checkDeclared("RegisterConversions", "remove it, or take +k8s:conversion-gen away")
	functions := b.functions()
	for _, to := range t.explicit {
		functions = append(functions, b.fromValues(to)...)
	}
	if len(functions) == 0 && len(t.funcs.own) == 0 {
		return nil, nil
	}
	if builder := p.Registrations[t.pkg].Builder; builder != "" {
		b.file.Add("", initFunc(builder))
	}
	b.file.Add("RegisterConversions adds conversion functions to the given scheme.\n"+
		"Public to allow building arbitrary schemes.", b.register())
	for _, f := range functions {
		b.file.Add(f.doc, f.code)
	}
	b.guards.addTo(b.file)
	file, err := b.file.Render(fileName)
	if err != nil {
		return nil, err
	}
	return &file, nil
}

// locals are the variables of emitted functions, which no import may be called by.
var locals = []string{"in", "out", "s", "i", "key", "val", "newVal", "err", "values", "ok", "a", "b", "scope", "kept", "data", "text", "v", "sum", "value", "bare"}
