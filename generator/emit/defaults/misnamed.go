package defaults

import (
	"strings"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
	"apigen.dev/generator/spelling"
)

// warnings tells of functions that are called like defaulting functions and never called.
func warnings(p *plan.Plan) []diag.Error {
	var errs diag.Errors
	for _, pkg := range p.Packages {
		for _, f := range pkg.Funcs {
			name, ok := strings.CutPrefix(f.Name, "SetDefaults_")
			if !p.Writes(pkg) || f.Mentioned { // what is called by hand may look as it likes
				continue
			}
			if !ok {
				misnamed(&errs, pkg, f)
				continue
			}
			if !plan.IsDefaulter(f) {
				errs.Add(f.Pos, "%s is never called: a defaulting function is func SetDefaults_%s(in *%s), named "+
					"after its one parameter and without results", f.Name, name, name)
			}
		}
	}
	return errs
}

// misnamed tells of a function that would default its one parameter, but for a slip in its name.
func misnamed(errs *diag.Errors, pkg *model.Package, f *model.Func) {
	if len(f.Params) != 1 || len(f.Results) != 0 || f.Variadic || f.Params[0].Form != model.Pointer ||
		f.Params[0].Elem == nil {
		return
	}
	t := f.Params[0].Elem
	want := "SetDefaults_" + t.Name
	if t.Name != "" && spelling.Misspelt(f.Name, want) && pkg.Func(want) == nil {
		errs.Add(f.Pos, "%s is not called by generated code: a function that sets the defaults of %s is called %s",
			f.Name, t.Name, want)
	}
}
