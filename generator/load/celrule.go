package load

import (
	"slices"

	"apigen.dev/generator/model"
)

// ruleImports are the packages that rules in CEL are run with, where any are there: they bring a library that servers
// without rules neither compile nor link.
func (l *loader) ruleImports() []string {
	for _, s := range l.sources {
		if s.rules && l.runtime {
			return l.RuleImports
		}
	}
	return nil
}

// celAvailable tells of the first rule of a group with wiring where the module can't import what runs it.
func (b *builder) celAvailable(p *model.Program) {
	if !p.RuntimeAvailable {
		return
	}
	for _, path := range b.l.RuleImports {
		missing := b.missing(path)
		if missing == nil {
			continue
		}
		if pos := firstRule(p); pos.IsValid() {
			b.warnings.Add(pos, "rules in CEL need %s, which can't be imported yet (%v): run go mod tidy", path, missing)
		}
		return
	}
}

// missing says what keeps a package from being imported: itself, or one that it imports and that go.mod or go.sum doesn't
// know, since nobody imported it before.
func (b *builder) missing(path string) error {
	m := b.l.metas[path]
	if m == nil || len(m.GoFiles) == 0 {
		return listError(m)
	}
	for _, imported := range m.Imports {
		if len(imported.GoFiles) == 0 && len(imported.Errors) > 0 {
			return listError(imported)
		}
	}
	return nil
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
