package match

import (
	"slices"

	"apigen.dev/runtime/admission"
)

// Index finds those of many rule sets that may match a write without trying all. It is immutable.
type Index struct {
	// exact are the places of rule sets by the resources that they name, wild those of sets with a wildcard.
	exact map[named][]int
	wild  []int
}

// named is a resource of a group as rules name it, with the subresource.
type named struct{ group, resource, subresource string }

// NewIndex returns the index of rule sets, in their order. A nil set matches everything.
func NewIndex(sets []*Rules) *Index {
	index := &Index{exact: map[named][]int{}}
	for i, set := range sets {
		if set == nil || set.isWild() {
			index.wild = append(index.wild, i)
			continue
		}
		seen := map[named]bool{}
		for _, rule := range set.All {
			for _, group := range rule.APIGroups {
				for _, pattern := range rule.Resources {
					resource, subresource := split(pattern)
					if key := (named{group, resource, subresource}); !seen[key] {
						seen[key] = true
						index.exact[key] = append(index.exact[key], i)
					}
				}
			}
		}
	}
	return index
}

func (r *Rules) isWild() bool {
	for _, rule := range r.All {
		if slices.Contains(rule.APIGroups, "*") || slices.ContainsFunc(rule.Resources, func(pattern string) bool {
			resource, subresource := split(pattern)
			return resource == "*" || subresource == "*"
		}) {
			return true
		}
	}
	return false
}

// Candidates returns the places of the rule sets that may match a write, in order. The slice must not be changed.
func (x *Index) Candidates(a *admission.Attributes) []int {
	if x == nil {
		return nil
	}
	found := x.exact[named{a.Resource.Group, a.Resource.Resource, a.Subresource}]
	for _, form := range a.Equivalents {
		if form.Resource.Group == a.Resource.Group && form.Resource.Resource == a.Resource.Resource {
			continue
		}
		if more := x.exact[named{form.Resource.Group, form.Resource.Resource, a.Subresource}]; len(more) > 0 {
			found = append(slices.Clip(found), more...)
		}
	}
	if len(x.wild) == 0 && len(found) == 0 {
		return nil
	}
	if len(found) == 0 {
		return x.wild
	}
	all := slices.Concat(found, x.wild)
	slices.Sort(all)
	return slices.Compact(all)
}
