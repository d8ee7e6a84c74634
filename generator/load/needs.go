package load

import "apigen.dev/generator/marker"

// ruleImports returns the packages that rules in CEL are run with, where any are there: they bring a library that
// servers without rules neither compile nor link.
func (u *Universe) ruleImports() []string {
	for _, s := range u.sources {
		if s.reads.needs[marker.NeedsCEL] && u.runtime {
			return u.options.RuleImports
		}
	}
	return nil
}

// clientImports returns the packages that generated clients import, where any are asked for.
func (u *Universe) clientImports() []string {
	var out []string
	wanted := false
	for _, s := range u.sources {
		wanted = wanted || s.root && s.reads.needs[marker.NeedsClients]
		out = append(out, s.reads.ofClients...)
	}
	if !wanted {
		return nil
	}
	return append(out, u.options.ClientImports...)
}
