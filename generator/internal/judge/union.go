package judge

import (
	"apigen.dev/generator/internal/model"
)

// unions judges what the fields of a struct say together of the unions that they are of.
func (r *checker) unions(t *model.Type) {
	members := map[string]int{}
	said := map[string]*model.Rule{}
	for _, f := range t.Fields {
		rules := r.of(&f.Schema).Rules
		for i := range rules {
			rule := &rules[i]
			switch rule.Check {
			case model.UnionMember:
				members[rule.Text]++
				if s := r.of(&f.Schema).Rule(model.Required); s != nil && s.Declarative {
					r.rulef(s, ": %s is a member of a union, of which one is set: mark it +k8s:optional", f.Name)
				}
			case model.UnionDiscriminator:
				if other := said[rule.Text]; other != nil {
					r.rulef(rule, ": line %d marks another field as the discriminator: remove one", other.Pos.Line)
				}
				said[rule.Text] = rule
			}
		}
	}
	for name, rule := range said {
		if members[name] == 0 {
			if name != "" {
				name = "(union: \"" + name + "\")"
			}
			r.rulef(rule, ": no field beside it is a +k8s:unionMember%s", name)
		}
	}
}
