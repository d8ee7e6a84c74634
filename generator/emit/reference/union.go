package reference

import (
	"fmt"
	"strings"

	"apigen.dev/generator/model"
	"apigen.dev/generator/schema"
)

func unions(t *model.Type) []string {
	var out []string
	for _, u := range schema.UnionsOf(t) {
		var members []string
		for _, f := range u.Members {
			members = append(members, f.JSON)
		}
		switch {
		case len(members) == 0:
		case u.Discriminator != nil:
			out = append(out, fmt.Sprintf("%s says which of %s is set", code(u.Discriminator.JSON), listed(members)))
		case u.ZeroOrOne:
			out = append(out, oneOf(0, 1, members))
		default:
			out = append(out, oneOf(1, 1, members))
		}
	}
	return out
}

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
