package rbac

import (
	"slices"
	"strings"

	"apigen.dev/runtime/request"
	rbacv1 "k8s.io/api/rbac/v1"
)

// everything is the word that stands for all verbs, groups, resources or paths.
const everything = "*"

// allows tells whether a rule allows what a request asks for. It allocates nothing.
func allows(rule *rbacv1.PolicyRule, info *request.Info) bool {
	if !matchesWord(rule.Verbs, info.Verb) {
		return false
	}
	if !info.IsResource {
		return slices.ContainsFunc(rule.NonResourceURLs, func(pattern string) bool {
			return coversPath(pattern, info.Path)
		})
	}
	return matchesWord(rule.APIGroups, info.Group) && matchesResource(rule.Resources, info) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, info.Name))
}

func matchesWord(words []string, wanted string) bool {
	for _, word := range words {
		if word == wanted || word == everything {
			return true
		}
	}
	return false
}

// matchesResource tells whether resources have that of a request: as *, as widgets, as widgets/status or as */status.
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
		if before, found = strings.CutSuffix(before, "/"); found && (before == info.Resource || before == everything) {
			return true
		}
	}
	return false
}

// coversPath tells whether a path of a rule is a path, or ends in * and covers it.
func coversPath(pattern, path string) bool {
	return pattern == path || strings.HasSuffix(pattern, "*") && strings.HasPrefix(path, strings.TrimRight(pattern, "*"))
}
