// Package policy has the policies of audit: it reads the kind Policy of audit.k8s.io/v1, and decides by its rules how
// much of a request the server records.
//
// It may know packages auth and trail.
package policy

import (
	"slices"
	"strings"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/audit/trail"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Policy is a policy as a file has it: the kind Policy of audit.k8s.io/v1.
type Policy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Rules are asked in order: the first rule that matches a request decides. Without one the level is None.
	Rules []Rule `json:"rules"`
	// OmitStages are the stages for which the server makes no events, beside those of a rule.
	OmitStages []trail.Stage `json:"omitStages,omitempty"`
	// OmitManagedFields leaves managed fields out of events, unless a rule says otherwise.
	OmitManagedFields bool `json:"omitManagedFields,omitempty"`
}

// Rule gives a level to the requests that match all of its fields. An empty field matches every request. A rule with
// resources or namespaces matches no other requests, and neither does a rule with non-resource URLs.
type Rule struct {
	Level trail.Level `json:"level"`
	// Users and UserGroups are of the user who authenticated, not of an impersonated one.
	Users      []string         `json:"users,omitempty"`
	UserGroups []string         `json:"userGroups,omitempty"`
	Verbs      []string         `json:"verbs,omitempty"`
	Resources  []GroupResources `json:"resources,omitempty"`
	// Namespaces match the namespace in the path; "" matches requests without one.
	Namespaces []string `json:"namespaces,omitempty"`
	// NonResourceURLs are paths; one that ends in * matches all that begin with the rest of it.
	NonResourceURLs   []string      `json:"nonResourceURLs,omitempty"`
	OmitStages        []trail.Stage `json:"omitStages,omitempty"`
	OmitManagedFields *bool         `json:"omitManagedFields,omitempty"`
}

// GroupResources are resources of a group: "" is the core group, * every group.
type GroupResources struct {
	Group string `json:"group,omitempty"`
	// Resources are pods, pods/log, pods/* (the subresources of pods, and pods), */log, or * for everything.
	Resources []string `json:"resources,omitempty"`
	// ResourceNames are the names of objects.
	ResourceNames []string `json:"resourceNames,omitempty"`
}

// Evaluator decides by the rules of a Policy, without allocating. It implements trail.Policy, and is immutable.
type Evaluator struct {
	rules     []Rule
	decisions []trail.Decision // of the rules
}

// NewEvaluator returns the Evaluator of a valid policy.
func NewEvaluator(p *Policy) *Evaluator {
	e := &Evaluator{rules: p.Rules}
	for i := range p.Rules {
		rule := &p.Rules[i]
		decision := trail.Decision{Level: rule.Level, OmitManagedFields: p.OmitManagedFields}
		if rule.OmitManagedFields != nil {
			decision.OmitManagedFields = *rule.OmitManagedFields
		}
		decision.Omit = slices.Concat(p.OmitStages, rule.OmitStages)
		e.decisions = append(e.decisions, decision)
	}
	return e
}

// Decide implements trail.Policy.
func (e *Evaluator) Decide(a auth.Attributes) trail.Decision {
	for i := range e.rules {
		if e.rules[i].matches(a) {
			return e.decisions[i]
		}
	}
	return trail.Decision{Level: trail.None}
}

func (r *Rule) matches(a auth.Attributes) bool {
	if !r.matchesUser(a.User) || len(r.Verbs) > 0 && !slices.Contains(r.Verbs, a.Verb) {
		return false
	}
	switch {
	case len(r.Namespaces) > 0 || len(r.Resources) > 0:
		return a.IsResource && r.matchesResource(a)
	case len(r.NonResourceURLs) > 0:
		return !a.IsResource && slices.ContainsFunc(r.NonResourceURLs, func(url string) bool {
			return matchesPath(url, a.Path)
		})
	}
	return true
}

func (r *Rule) matchesUser(user *auth.User) bool {
	if len(r.Users) > 0 && (user == nil || !slices.Contains(r.Users, user.Name)) {
		return false
	}
	return len(r.UserGroups) == 0 || user != nil && slices.ContainsFunc(user.Groups, func(group string) bool {
		return slices.Contains(r.UserGroups, group)
	})
}

func matchesPath(url, path string) bool {
	return url == "*" || url == path ||
		strings.HasSuffix(url, "*") && strings.HasPrefix(path, strings.TrimRight(url, "*"))
}

func (r *Rule) matchesResource(a auth.Attributes) bool {
	if len(r.Namespaces) > 0 && !slices.Contains(r.Namespaces, a.Namespace) {
		return false
	}
	for i := range r.Resources {
		if r.Resources[i].match(a) {
			return true
		}
	}
	return len(r.Resources) == 0
}

func (g *GroupResources) match(a auth.Attributes) bool {
	if g.Group != a.Group && g.Group != "*" {
		return false
	}
	if len(g.Resources) == 0 {
		return true
	}
	if len(g.ResourceNames) > 0 && !slices.Contains(g.ResourceNames, a.Name) {
		return false
	}
	return slices.ContainsFunc(g.Resources, func(resource string) bool {
		return matchesName(resource, a.Resource, a.Subresource)
	})
}

// matchesName matches a resource of a rule. As in kube-apiserver, pods/* matches pods, too.
func matchesName(rule, resource, subresource string) bool {
	if rule == "*" {
		return true
	}
	name, sub, divided := strings.Cut(rule, "/")
	switch {
	case !divided:
		return subresource == "" && rule == resource
	case sub == "*" && name == resource:
		return true
	case subresource == "":
		return false
	}
	return (name == resource || name == "*") && sub == subresource
}
