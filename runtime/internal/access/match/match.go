// Package match tells which webhooks and policies a write concerns: by rules over resources, by selectors of namespaces
// and objects, and by conditions in CEL.
//
// It may know packages admission, auth, access/policy, reach and request.
package match

import (
	"slices"
	"strings"

	"apigen.dev/runtime/admission"
	registration "k8s.io/api/admissionregistration/v1"
)

// Rules are the rules of a webhook, or of the constraints of a policy.
type Rules struct {
	All []registration.NamedRuleWithOperations
	// Equivalent has a rule match a write through another form of the same resource, too, in which the webhook or the
	// policy then sees the object.
	Equivalent bool
}

// RulesOf returns the rules of a webhook.
func RulesOf(rules []registration.RuleWithOperations, policy *registration.MatchPolicyType) Rules {
	all := make([]registration.NamedRuleWithOperations, len(rules))
	for i, rule := range rules {
		all[i].RuleWithOperations = rule
	}
	return Rules{All: all, Equivalent: IsEquivalent(policy)}
}

// IsEquivalent reports whether a match policy is Equivalent, which it is unless it says Exact.
func IsEquivalent(policy *registration.MatchPolicyType) bool {
	return policy == nil || *policy == registration.Equivalent
}

// Find returns the form of the object in which a rule matches a write: that of the request, if possible.
func (r *Rules) Find(a *admission.Attributes) (admission.Form, bool) {
	own := admission.Form{Resource: a.Resource, Kind: a.Kind}
	for i := range r.All {
		if matches(&r.All[i], a, own) {
			return own, true
		}
	}
	if !r.Equivalent {
		return own, false
	}
	for i := range r.All {
		for _, form := range a.Equivalents {
			if form.Resource != own.Resource && matches(&r.All[i], a, form) {
				return form, true
			}
		}
	}
	return own, false
}

func matches(rule *registration.NamedRuleWithOperations, a *admission.Attributes, form admission.Form) bool {
	operation := func(o registration.OperationType) bool {
		return o == registration.OperationAll || string(o) == string(a.Operation)
	}
	return slices.ContainsFunc(rule.Operations, operation) && anyOr(rule.APIGroups, form.Resource.Group) &&
		anyOr(rule.APIVersions, form.Resource.Version) && inScope(rule.Scope, a) &&
		slices.ContainsFunc(rule.Resources, func(pattern string) bool {
			resource, subresource := split(pattern)
			return (resource == "*" || resource == form.Resource.Resource) &&
				(subresource == "*" || subresource == a.Subresource)
		}) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, a.Name))
}

func anyOr(items []string, one string) bool {
	return slices.Contains(items, "*") || slices.Contains(items, one)
}

func split(pattern string) (resource, subresource string) {
	resource, subresource, _ = strings.Cut(pattern, "/")
	return resource, subresource
}

func inScope(scope *registration.ScopeType, a *admission.Attributes) bool {
	namespaced := a.Namespace != "" && !isNamespace(a)
	return scope == nil || *scope == registration.AllScopes ||
		*scope == registration.NamespacedScope && namespaced || *scope == registration.ClusterScope && !namespaced
}

// isNamespace reports whether a write is one of a namespace or its subresources.
func isNamespace(a *admission.Attributes) bool {
	return a.Resource.Group == "" && a.Resource.Resource == "namespaces"
}

// policies and webhooks are the kinds by which these are registered. No policy sees a policy, and no webhook either, so
// that none can keep others from mending what it breaks.
var (
	policies = []string{
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy",
		"MutatingAdmissionPolicyBinding",
	}
	webhooks = []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"}
)

// IsPolicy reports whether a write is one of a policy or its binding.
func IsPolicy(a *admission.Attributes) bool {
	return a.Kind.Group == registration.GroupName && slices.Contains(policies, a.Kind.Kind)
}

// IsRegistration reports whether a write is one of a webhook's or a policy's registration.
func IsRegistration(a *admission.Attributes) bool {
	return IsPolicy(a) || a.Kind.Group == registration.GroupName && slices.Contains(webhooks, a.Kind.Kind)
}
