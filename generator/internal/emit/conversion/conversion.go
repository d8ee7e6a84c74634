// Package conversion emits zz_generated.conversion.go: functions that convert between the types of a hub and those of
// its spokes, field by field, under the names and signatures of conversion-gen. A package is a spoke if it says
// +k8s:conversion-gen=<internal package>, or where its group is served, has no internal package, and stores another
// version. Hand-written functions are called. The plan decides all of that, field by field; a field that a conversion
// would lose is an error that says what to write.
//
// It knows the plan, the model, emit and gocode.
package conversion

import (
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/spelling"
)

// Emitter returns the emitter of conversion functions.
func Emitter() emit.Emitter {
	e := gocode.Emitter("conversion", "conversions between versions: Convert_a_X_To_b_X, RegisterConversions", write)
	e.Faults = func(p *plan.Plan) diag.Errors { return p.ConversionFaults }
	e.Warnings = warnings
	return e
}

func write(p *plan.Plan, pkg *model.Package) *gocode.File {
	c := p.OfPackage(pkg).Conversions
	if c == nil || c.Empty() {
		return nil
	}
	w := &writer{plan: c, file: gocode.New(p.Program, c.Package, locals...)}
	if builder := p.OfPackage(c.Package).Registration.Builder; builder != "" {
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
	return w.file
}

// warnings reports fields that conversions lose although they are written by hand, and functions that convert a pair of
// types as generated code would call them, but for a slip in their names. What other code of the package mentions may
// be called as it likes.
func warnings(p *plan.Plan) []diag.Error {
	errs := p.Uncovered()
	for _, pkg := range p.Written() {
		for _, f := range pkg.Funcs {
			if f.Mentioned || !strings.HasPrefix(strings.ToLower(f.Name), "conver") || !plan.IsConversion(f) {
				continue
			}
			p := plan.Pair{In: f.Params[0].Elem, Out: f.Params[1].Elem}
			if want := p.Function(); spelling.Misspelt(f.Name, want) && pkg.Func(want) == nil {
				errs.Add(f.Pos, "%s is not called by generated code: a function that converts these types is called %s",
					f.Name, want)
			}
		}
	}
	return errs
}

// locals are the variables of emitted functions, which no import may be called by.
var locals = []string{"in", "out", "s", "i", "key", "val", "newVal", "err", "values", "ok", "a", "b", "scope", "kept",
	"data", "text", "v", "sum", "value", "bare"}
