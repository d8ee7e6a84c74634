package ownership

import (
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Only returns a filter that selects the fields of paths, and all that is below them. A path has names with dots
// between, where [*] behind a name stands for the items of a list: spec.containers[*].resources.
func Only(paths []string) fieldpath.Filter {
	split := make([][]string, len(paths))
	for i, path := range paths {
		split[i] = pathElements(path)
	}
	return fieldpath.NewIncludeMatcherFilter(matcher(split))
}

// matcher matches the fields below all paths. SetMatcher.Merge doesn't: of two paths that begin alike, it loses one.
func matcher(paths [][]string) *fieldpath.SetMatcher {
	var members []*fieldpath.SetMemberMatcher
	for len(paths) > 0 {
		first := paths[0][0]
		var below, others [][]string
		whole := false
		for _, path := range paths {
			switch {
			case path[0] != first:
				others = append(others, path)
			case len(path) == 1:
				whole = true
			default:
				below = append(below, path[1:])
			}
		}
		member := &fieldpath.SetMemberMatcher{Child: fieldpath.MatchAnySet()}
		if !whole {
			member.Child = matcher(below)
		}
		if first == anyItem {
			member.Path.Wildcard = true
		} else {
			member.Path.FieldName = new(first)
		}
		members, paths = append(members, member), others
	}
	return fieldpath.NewSetMatcher(false, members...)
}

// anyItem stands for the items of a list.
const anyItem = "[*]"

func pathElements(path string) (out []string) {
	for name := range strings.SplitSeq(path, ".") {
		name, items := strings.CutSuffix(name, anyItem)
		if out = append(out, name); items {
			out = append(out, anyItem)
		}
	}
	return out
}
