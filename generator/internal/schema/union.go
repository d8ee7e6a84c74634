package schema

import (
	"slices"

	"apigen.dev/generator/internal/model"
)

// Union is a set of fields of a struct of which exactly one, or at most one, is set.
type Union struct {
	Name string
	// ZeroOrOne: no field has to be set.
	ZeroOrOne bool
	// Discriminator is the field that names the member that is set; nil if there is none.
	Discriminator *model.Field
	Members       []*model.Field
	// Values are the values of the discriminator, one for each member.
	Values []string
}

// Unions are the unions of a struct, in the order of their first fields.
type Unions []*Union

// UnionsOf returns the unions that markers at the fields of a struct make.
func UnionsOf(t *model.Type) Unions {
	var out Unions
	for _, f := range t.Fields {
		out.Add(f, f.Schema.Rules)
	}
	return out
}

// Add adds a field to the unions that rules name.
func (u *Unions) Add(f *model.Field, rules []model.Rule) {
	for i := range rules {
		switch r := &rules[i]; r.Check {
		case model.UnionDiscriminator:
			u.named(r).Discriminator = f
		case model.UnionMember, model.ZeroOrOneOfMember:
			value := f.Name
			if len(r.Values) > 0 && r.Values[0] != "" {
				value = r.Values[0]
			}
			union := u.named(r)
			union.Members, union.Values = append(union.Members, f), append(union.Values, value)
		}
	}
}

func (u *Unions) named(r *model.Rule) *Union {
	zeroOrOne := r.Check == model.ZeroOrOneOfMember
	i := slices.IndexFunc(*u, func(x *Union) bool { return x.Name == r.Text && x.ZeroOrOne == zeroOrOne })
	if i < 0 {
		i, *u = len(*u), append(*u, &Union{Name: r.Text, ZeroOrOne: zeroOrOne})
	}
	return (*u)[i]
}
