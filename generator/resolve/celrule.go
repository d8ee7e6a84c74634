package resolve

import "apigen.dev/generator/model"

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

// firstRule returns where the first rule in a package is that output is written for.
func firstRule(p *model.Program) model.Position {
	for _, pkg := range p.Packages {
		if !pkg.Output {
			continue
		}
		for _, t := range pkg.Types {
			schemas := []*model.Schema{&t.Schema}
			for _, f := range t.Fields {
				schemas = append(schemas, &f.Schema, f.Schema.Items)
			}
			for _, s := range schemas {
				if s != nil && len(s.CEL) > 0 {
					return s.CEL[0].Pos
				}
			}
		}
	}
	return model.Position{}
}
