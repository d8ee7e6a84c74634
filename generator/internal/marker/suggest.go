package marker

import (
	"slices"
	"strings"

	"apigen.dev/generator/internal/spelling"
)

// Suggest returns the known marker that is nearest to an unknown name, or nothing if none is near.
func Suggest(name string) string {
	names := make([]string, 0, len(table))
	for i := range table {
		names = append(names, table[i].Name)
	}
	if s, ok := retired[name]; ok {
		return s
	}
	if s := spelling.Within(name, names, 2); s != "" {
		return s
	}
	// A wrong prefix: +kubebuilder:Enum for +kubebuilder:validation:Enum.
	family, last := name[:strings.IndexByte(name+":", ':')], name[strings.LastIndexByte(name, ':')+1:]
	ends := func(n, with string) bool {
		return strings.HasPrefix(n, family+":") && len(n) > len(with) && strings.EqualFold(n[len(n)-len(with):], with)
	}
	i := slices.IndexFunc(names, func(n string) bool { return last != "" && ends(n, ":"+last) })
	if i < 0 { // half of a name: +kubebuilder:validation:OneOf for +kubebuilder:validation:AtMostOneOf
		i = slices.IndexFunc(names, func(n string) bool {
			return len(last) > 4 && ends(n, last) && n[len(n)-len(last)-1] >= 'a'
		})
	}
	if i >= 0 {
		return names[i]
	}
	if s := begun(name, names); s != "" {
		return s
	}
	rest := name[min(len(family)+1, len(name)):]
	var rests []string // what is common to a family is not a likeness
	for _, n := range names {
		if r, ok := strings.CutPrefix(n, family+":"); ok {
			rests = append(rests, r)
		}
	}
	if r := spelling.Nearest(rest, rests); r != "" && rest != "" {
		return family + ":" + r
	}
	return ""
}

// begun returns what a name is the beginning of: a marker, or what several have in common and dots.
func begun(name string, names []string) string {
	common, n := "", 0
	if !strings.Contains(name, ":") {
		return "" // a family says nothing yet
	}
	for _, c := range names {
		switch {
		case len(c) <= len(name) || !strings.EqualFold(c[:len(name)], name):
			continue
		case n == 0:
			common = c
		default:
			for !strings.HasPrefix(c, common) {
				common = common[:len(common)-1]
			}
		}
		n++
	}
	if i := strings.LastIndexByte(common, ':'); n > 1 && i >= len(name) {
		return common[:i+1] + "..."
	}
	if n == 1 && len(name)-strings.LastIndexByte(name, ':') > 4 {
		return common
	}
	return ""
}

// retired are names that tools once had, or that the wild believes in, and what says the same today.
var retired = map[string]string{
	"kubebuilder:plural": "kubebuilder:resource:path=", "kubebuilder:singular": "kubebuilder:resource:singular=",
	"kubebuilder:altName":          "kubebuilder:resource:shortName=",
	"kubebuilder:validation:AnyOf": "kubebuilder:validation:AtLeastOneOf",
}
