// Package conversion emits zz_generated.conversion.go: functions that convert between the types of a hub and those of
// its spokes, field by field, under the names and signatures of conversion-gen. A package is a spoke where it says
// +k8s:conversion-gen=<internal package>, or where its group is served, has no internal package, and stores another
// version. Hand-written functions are called. The plan decides all of that, field by field; a field that a conversion
// would lose is an error that says what to write.
//
// It knows the plan, the model, emit and gocode.
package conversion

import (
	"errors"
	"slices"

	"apigen.dev/generator/diag"
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
		Files:    []string{fileName},
		Emit:     emitFiles,
		Warnings: warnings,
	}
}

func emitFiles(p *plan.Plan) ([]emit.File, error) {
	errs := slices.Clone(p.ConversionFaults)
	var files []emit.File
	for _, c := range p.Conversions {
		if !p.Writes(c.Package) {
			continue
		}
		errs = append(errs, c.Faults...)
		if len(c.Faults) > 0 || c.Empty() {
			continue
		}
		file, err := render(p, c)
		if err != nil {
			collect(&errs, c.Package, err)
			continue
		}
		files = append(files, file)
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return files, nil
}

// collect adds an error of rendering to the others.
func collect(errs *diag.Errors, pkg *model.Package, err error) {
	var many diag.Errors
	if errors.As(err, &many) {
		*errs = append(*errs, many...)
		return
	}
	errs.Add(pkg.Pos, "%v", err)
}

// render prints the file of one package.
func render(p *plan.Plan, c *plan.Conversions) (emit.File, error) {
	w := &writer{plan: c, file: gocode.New(p.Program, c.Package, locals...)}
	if builder := p.Registrations[c.Package].Builder; builder != "" {
		// By the convention of API packages, conversions register themselves with the package's scheme builder.
		w.file.Add("", w.file.Code("func init() {\n$.Register(RegisterConversions)\n}", builder))
	}
	w.file.Add("RegisterConversions adds conversion functions to the given scheme.\n"+
		"Public to allow building arbitrary schemes.", w.register())
	for _, f := range c.Functions {
		w.conversion(f)
	}
	for _, q := range c.FromQuery {
		w.query(q)
	}
	w.guards()
	return w.file.Render(fileName)
}

// locals are the variables of emitted functions, which no import may be called by.
var locals = []string{"in", "out", "s", "i", "key", "val", "newVal", "err", "values", "ok", "a", "b", "scope", "kept",
	"data", "text", "v", "sum", "value", "bare"}
