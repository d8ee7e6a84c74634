package rbac

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Covers reports whether the rules of an owner allow all that other rules allow, and which of these they don't: one
// rule for each verb on each resource, name and path. Each of them must be covered by one rule of the owner.
func Covers(owner, rules []rbacv1.PolicyRule) (covered bool, missing []rbacv1.PolicyRule) {
	for i := range rules {
		single(&rules[i], func(part rbacv1.PolicyRule) {
			if !slices.ContainsFunc(owner, func(r rbacv1.PolicyRule) bool { return covers(&r, &part) }) {
				missing = append(missing, part)
			}
		})
	}
	return len(missing) == 0, missing
}

// single calls yield with rules that say together what a rule says, each with one verb and one resource or path.
func single(rule *rbacv1.PolicyRule, yield func(rbacv1.PolicyRule)) {
	named := [][]string{nil}
	if len(rule.ResourceNames) > 0 {
		named = slices.Collect(slices.Chunk(rule.ResourceNames, 1))
	}
	for group := range slices.Chunk(rule.APIGroups, 1) {
		for resource := range slices.Chunk(rule.Resources, 1) {
			for verb := range slices.Chunk(rule.Verbs, 1) {
				for _, names := range named {
					yield(rbacv1.PolicyRule{
						APIGroups: group, Resources: resource, Verbs: verb, ResourceNames: names,
					})
				}
			}
		}
	}
	for path := range slices.Chunk(rule.NonResourceURLs, 1) {
		for verb := range slices.Chunk(rule.Verbs, 1) {
			yield(rbacv1.PolicyRule{NonResourceURLs: path, Verbs: verb})
		}
	}
}

// covers reports whether a rule allows what a part allows, which single has made.
func covers(owner, part *rbacv1.PolicyRule) bool {
	if !matchesWord(owner.Verbs, part.Verbs[0]) {
		return false
	}
	if unnamed := len(owner.ResourceNames) == 0; !unnamed &&
		(len(part.ResourceNames) == 0 || !slices.Contains(owner.ResourceNames, part.ResourceNames[0])) {
		return false
	}
	if len(part.NonResourceURLs) > 0 {
		return matchesPath(owner.NonResourceURLs, part.NonResourceURLs[0])
	}
	return matchesWord(owner.APIGroups, part.APIGroups[0]) && coversResource(owner.Resources, part.Resources[0])
}

func coversResource(resources []string, wanted string) bool {
	if matchesWord(resources, wanted) {
		return true
	}
	_, subresource, found := strings.Cut(wanted, "/")
	return found && slices.Contains(resources, everything+"/"+subresource)
}

// describeMissing returns a line for each resource and path of missing rules, sorted, in the format of kube-apiserver.
func describeMissing(missing []rbacv1.PolicyRule) string {
	var joined []rbacv1.PolicyRule
	at := map[string]int{}
	for _, rule := range missing {
		if len(rule.NonResourceURLs) > 0 {
			joined = append(joined, rule)
			continue
		}
		key := fmt.Sprintf("%q %q %q", rule.APIGroups, rule.Resources, rule.ResourceNames)
		if i, known := at[key]; known {
			joined[i].Verbs = slices.Concat(joined[i].Verbs, rule.Verbs)
			continue
		}
		at[key] = len(joined)
		joined = append(joined, rule)
	}
	lines := make([]string, len(joined))
	for i := range joined {
		lines[i] = describeRule(&joined[i])
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n")
}

func describeRule(rule *rbacv1.PolicyRule) string {
	var parts []string
	for _, part := range []struct {
		name  string
		words []string
	}{
		{"APIGroups", rule.APIGroups}, {"Resources", rule.Resources}, {"NonResourceURLs", rule.NonResourceURLs},
		{"ResourceNames", rule.ResourceNames}, {"Verbs", rule.Verbs},
	} {
		if len(part.words) > 0 {
			parts = append(parts, fmt.Sprintf("%s:%q", part.name, part.words))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
