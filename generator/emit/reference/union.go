package reference

import (
	"fmt"
	"slices"
	"strings"

	"apigen.dev/generator/model"
)

// unions says which fields of a struct exclude each other: +k8s:unionMember and +k8s:zeroOrOneOfMember, by the name of their
// union.
func unions(t *model.Type) []string {
	type union struct {
		check         model.Check
		name          string
		discriminator string
		members       []string
	}
	var all []*union
	find := func(check model.Check, name string) *union {
		i := slices.IndexFunc(all, func(u *union) bool { return u.check == check && u.name == name })
		if i < 0 {
			i, all = len(all), append(all, &union{check: check, name: name})
		}
		return all[i]
	}
	for _, f := range t.Fields {
		for _, r := range f.Schema.Rules {
			switch r.Check {
			case model.UnionMember, model.ZeroOrOneOfMember:
				u := find(r.Check, r.Text)
				u.members = append(u.members, f.JSON)
			case model.UnionDiscriminator:
				find(model.UnionMember, r.Text).discriminator = f.JSON
			}
		}
	}
	var out []string
	for _, u := range all {
		switch {
		case len(u.members) == 0:
		case u.discriminator != "":
			out = append(out, fmt.Sprintf("%s says which of %s is set", code(u.discriminator), listed(u.members)))
		case u.check == model.ZeroOrOneOfMember:
			out = append(out, oneOf(0, 1, u.members))
		default:
			out = append(out, oneOf(1, 1, u.members))
		}
	}
	return out
}

// oneOf says how many of some fields are set.
func oneOf(least, most int, fields []string) string {
	switch {
	case least == most:
		return fmt.Sprintf("exactly %d of %s is set", least, listed(fields))
	case most < 0:
		return fmt.Sprintf("at least %d of %s is set", least, listed(fields))
	}
	return fmt.Sprintf("at most %d of %s is set", most, listed(fields))
}

func listed(fields []string) string {
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = code(f)
	}
	return strings.Join(all, ", ")
}
