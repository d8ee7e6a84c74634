package v1

import (
	"context"
	"fmt"
	"slices"

	registrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Warnings_ValidatingAdmissionPolicy warns of a name that is kept for manifests.
func Warnings_ValidatingAdmissionPolicy(
	_ context.Context, policy, _ *registrationv1.ValidatingAdmissionPolicy,
) []string {
	return warnOfStaticSuffix(policy)
}

// Warnings_MutatingAdmissionPolicy warns of a name that is kept for manifests.
func Warnings_MutatingAdmissionPolicy(_ context.Context, policy, _ *registrationv1.MutatingAdmissionPolicy) []string {
	return warnOfStaticSuffix(policy)
}

// Warnings_ValidatingAdmissionPolicyBinding warns of a name that is kept for manifests.
func Warnings_ValidatingAdmissionPolicyBinding(
	_ context.Context, binding, _ *registrationv1.ValidatingAdmissionPolicyBinding,
) []string {
	return warnOfStaticSuffix(binding)
}

// Warnings_MutatingAdmissionPolicyBinding warns of a name that is kept for manifests.
func Warnings_MutatingAdmissionPolicyBinding(
	_ context.Context, binding, _ *registrationv1.MutatingAdmissionPolicyBinding,
) []string {
	return warnOfStaticSuffix(binding)
}

// Warnings_ValidatingWebhookConfiguration warns of a name that is kept for manifests, and of rules without effect.
func Warnings_ValidatingWebhookConfiguration(
	_ context.Context, config, _ *registrationv1.ValidatingWebhookConfiguration,
) []string {
	return append(warnOfStaticSuffix(config), warnOfReviews(webhooksOf(config.Webhooks))...)
}

// Warnings_MutatingWebhookConfiguration warns of a name that is kept for manifests, and of rules without effect.
func Warnings_MutatingWebhookConfiguration(
	_ context.Context, config, _ *registrationv1.MutatingWebhookConfiguration,
) []string {
	return append(warnOfStaticSuffix(config), warnOfReviews(config.Webhooks)...)
}

// reviews are the resources that no webhook and no policy sees: a server whose webhook is broken must still find out
// who its clients are and what they may do.
var reviews = []schema.GroupResource{
	{Group: "authentication.k8s.io", Resource: "selfsubjectreviews"},
	{Group: "authentication.k8s.io", Resource: "tokenreviews"},
	{Group: "authorization.k8s.io", Resource: "localsubjectaccessreviews"},
	{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"},
	{Group: "authorization.k8s.io", Resource: "selfsubjectrulesreviews"},
	{Group: "authorization.k8s.io", Resource: "subjectaccessreviews"},
}

// warnOfReviews warns of each rule that names a review.
func warnOfReviews(hooks []webhook) (warnings []string) {
	for i := range hooks {
		for j := range hooks[i].Rules {
			for _, resource := range reviewsOf(&hooks[i].Rules[j]) {
				warnings = append(warnings, fmt.Sprintf(
					"%s: %s is excluded from admission webhooks; this rule will have no effect",
					webhooksPath.Index(i).Child("rules").Index(j), resource))
			}
		}
	}
	return warnings
}

// reviewsOf returns the reviews that a rule names, once each. A rule with a * may be meant for other resources.
func reviewsOf(rule *registrationv1.RuleWithOperations) (named []schema.GroupResource) {
	if slices.Contains(rule.APIGroups, everything) || slices.Contains(rule.Resources, everything) {
		return nil
	}
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			name := schema.GroupResource{Group: group, Resource: resource}
			if slices.Contains(reviews, name) && !slices.Contains(named, name) {
				named = append(named, name)
			}
		}
	}
	return named
}
