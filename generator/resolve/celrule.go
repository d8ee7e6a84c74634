package resolve

import (
	"slices"

	"apigen.dev/generator/model"
)

// checkCEL warns at the first rule in CEL where the module can't import the library that runs it.
func checkCEL(f *faults, p *model.Program, imports []string) {
	if !p.RuntimeAvailable {
		return
	}
	for _, path := range imports {
		missing := f.u.Missing(path)
		if missing == nil {
			continue
		}
		if pos := firstRule(p); pos.IsValid() {
			f.warnf(pos, "rules in CEL need %s, which can't be imported yet (%v): run go mod tidy", path, missing)
		}
		return
	}
}

// firstRule is where the first rule in a package is that output is written for.
func firstRule(p *model.Program) model.Position {
	for _, pkg := range p.Packages {
		if !pkg.Output {
			continue
		}
		for _, t := range pkg.Types {
			for _, rules := range append([][]model.CELRule{t.Schema.CEL}, fieldRules(t)...) {
				if len(rules) > 0 {
					return rules[0].Pos
				}
			}
		}
	}
	return model.Position{}
}

func fieldRules(t *model.Type) [][]model.CELRule {
	var out [][]model.CELRule
	for _, f := range t.Fields {
		out = append(out, f.Schema.CEL)
		if f.Schema.Items != nil {
			out = append(out, f.Schema.Items.CEL)
		}
	}
	return slices.Clip(out)
}
