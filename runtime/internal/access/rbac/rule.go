package rbac

import (
	"slices"
	"strings"

	"apigen.dev/runtime/internal/request"
	rbacv1 "k8s.io/api/rbac/v1"
)

// everything is the word that stands for all verbs, groups, resources or paths.
const everything = "*"

// role are the rules of a Role or ClusterRole, and the same rules by what they are about. It is immutable.
type role struct {
	rules []rbacv1.PolicyRule
	// groups are rules by an API group; allGroups are those for all groups, and paths those for paths.
	groups           map[string][]*rbacv1.PolicyRule
	allGroups, paths []*rbacv1.PolicyRule
}

func newRole(rules []rbacv1.PolicyRule) *role {
	r := &role{rules: rules, groups: map[string][]*rbacv1.PolicyRule{}}
	for i := range rules {
		rule := &rules[i]
		if len(rule.NonResourceURLs) > 0 {
			r.paths = append(r.paths, rule)
		}
		if slices.Contains(rule.APIGroups, everything) {
			r.allGroups = append(r.allGroups, rule)
			continue
		}
		for _, group := range rule.APIGroups {
			r.groups[group] = append(r.groups[group], rule)
		}
	}
	return r
}

// allows reports whether a rule of the role allows what a request asks for. It allocates nothing.
func (r *role) allows(info *request.Info) bool {
	if info.IsResource {
		return allowsResource(r.allGroups, info) || allowsResource(r.groups[info.Group], info)
	}
	for _, rule := range r.paths {
		if matchesWord(rule.Verbs, info.Verb) && matchesPath(rule.NonResourceURLs, info.Path) {
			return true
		}
	}
	return false
}

// allowsResource is allows for a request for a resource, and the rules for its group.
func allowsResource(rules []*rbacv1.PolicyRule, info *request.Info) bool {
	for _, rule := range rules {
		if matchesWord(rule.Verbs, info.Verb) && matchesResource(rule.Resources, info) &&
			(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, info.Name)) {
			return true
		}
	}
	return false
}

func matchesPath(patterns []string, path string) bool {
	for _, pattern := range patterns {
		if coversPath(pattern, path) {
			return true
		}
	}
	return false
}

func matchesWord(words []string, wanted string) bool {
	for _, word := range words {
		if word == wanted || word == everything {
			return true
		}
	}
	return false
}

// matchesResource reports whether resources have that of a request: as *, as widgets, as widgets/status or as */status.
func matchesResource(resources []string, info *request.Info) bool {
	for _, resource := range resources {
		if resource == everything {
			return true
		}
		if info.Subresource == "" {
			if resource == info.Resource {
				return true
			}
			continue
		}
		before, found := strings.CutSuffix(resource, info.Subresource)
		if !found {
			continue
		}
		before, found = strings.CutSuffix(before, "/")
		if found && (before == info.Resource || before == everything) {
			return true
		}
	}
	return false
}

// coversPath reports whether a path of a rule is a path, or ends in * and covers it.
func coversPath(pattern, path string) bool {
	begin := strings.TrimRight(pattern, "*")
	return pattern == path || begin != pattern && strings.HasPrefix(path, begin)
}
