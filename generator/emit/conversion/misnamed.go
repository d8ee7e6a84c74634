package conversion

import (
	"strings"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/plan"
	"apigen.dev/generator/spelling"
)

// warnings tells of functions that convert a pair of types as generated code would call them, but for a slip in their
// names. What other code of the package mentions may be called as it likes.
func warnings(p *plan.Plan) []diag.Error {
	var errs diag.Errors
	for _, pkg := range p.Packages {
		if !p.Writes(pkg) {
			continue
		}
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
