package v1

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/version"
)

// ByPriority returns APIServices by group, in the order in which a server lists groups: CompareGroups places each group
// by the first of its APIServices. Within a group they are in the order of CompareVersions. It doesn't change services.
func ByPriority(services []*APIService) [][]*APIService {
	var groups [][]*APIService
	at := map[string]int{} // the index of a group in groups
	for _, service := range slices.SortedFunc(slices.Values(services), CompareGroups) {
		i, found := at[service.Spec.Group]
		if !found {
			i, groups = len(groups), append(groups, nil)
			at[service.Spec.Group] = i
		}
		groups[i] = append(groups[i], service)
	}
	for _, group := range groups {
		slices.SortStableFunc(group, CompareVersions)
	}
	return groups
}

// CompareGroups orders APIServices by the priorities of their groups: the greatest groupPriorityMinimum first, and
// among equals the names of the APIServices by the alphabet.
func CompareGroups(a, b *APIService) int {
	return cmp.Or(
		cmp.Compare(b.Spec.GroupPriorityMinimum, a.Spec.GroupPriorityMinimum),
		strings.Compare(a.Name, b.Name),
	)
}

// CompareVersions orders APIServices of one group: the greatest versionPriority first, and among equals the versions in
// Kubernetes' order, v2 before v1 before v2beta1.
func CompareVersions(a, b *APIService) int {
	return cmp.Or(
		cmp.Compare(b.Spec.VersionPriority, a.Spec.VersionPriority),
		version.CompareKubeAwareVersionStrings(b.Spec.Version, a.Spec.Version),
	)
}
