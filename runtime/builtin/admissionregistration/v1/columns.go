package v1

import (
	registrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// unset is what a column shows in place of a field that isn't there.
const unset = "<unset>"

// WebhooksColumn_MutatingWebhookConfiguration counts the webhooks of a configuration.
func WebhooksColumn_MutatingWebhookConfiguration(config *registrationv1.MutatingWebhookConfiguration) int {
	return len(config.Webhooks)
}

// WebhooksColumn_ValidatingWebhookConfiguration counts the webhooks of a configuration.
func WebhooksColumn_ValidatingWebhookConfiguration(config *registrationv1.ValidatingWebhookConfiguration) int {
	return len(config.Webhooks)
}

// ValidationsColumn_ValidatingAdmissionPolicy counts the validations of a policy.
func ValidationsColumn_ValidatingAdmissionPolicy(policy *registrationv1.ValidatingAdmissionPolicy) int {
	return len(policy.Spec.Validations)
}

// MutationsColumn_MutatingAdmissionPolicy counts the mutations of a policy.
func MutationsColumn_MutatingAdmissionPolicy(policy *registrationv1.MutatingAdmissionPolicy) int {
	return len(policy.Spec.Mutations)
}

// ParamKindColumn_ValidatingAdmissionPolicy returns the kind of a policy's parameters, such as v1/ConfigMap.
func ParamKindColumn_ValidatingAdmissionPolicy(policy *registrationv1.ValidatingAdmissionPolicy) string {
	return paramKind(policy.Spec.ParamKind)
}

// ParamKindColumn_MutatingAdmissionPolicy returns the kind of a policy's parameters, such as v1/ConfigMap.
func ParamKindColumn_MutatingAdmissionPolicy(policy *registrationv1.MutatingAdmissionPolicy) string {
	return paramKind(policy.Spec.ParamKind)
}

func paramKind(kind *registrationv1.ParamKind) string {
	if kind == nil {
		return unset
	}
	return kind.APIVersion + "/" + kind.Kind
}

// ParamRefColumn_ValidatingAdmissionPolicyBinding returns the parameters of a binding: a name with its namespace, or a
// selector.
func ParamRefColumn_ValidatingAdmissionPolicyBinding(binding *registrationv1.ValidatingAdmissionPolicyBinding) string {
	return paramRef(binding.Spec.ParamRef)
}

// ParamRefColumn_MutatingAdmissionPolicyBinding returns the parameters of a binding: a name with its namespace, or a
// selector.
func ParamRefColumn_MutatingAdmissionPolicyBinding(binding *registrationv1.MutatingAdmissionPolicyBinding) string {
	return paramRef(binding.Spec.ParamRef)
}

// paramRef shows * for a namespace that the binding doesn't name: that of the request, if the parameters have one.
func paramRef(ref *registrationv1.ParamRef) string {
	switch {
	case ref == nil:
		return unset
	case ref.Name != "" && ref.Namespace != "":
		return ref.Namespace + "/" + ref.Name
	case ref.Name != "":
		return "*/" + ref.Name
	case ref.Selector != nil:
		return ref.Selector.String()
	}
	return unset
}

// AgeColumn_MutatingWebhookConfiguration returns when a configuration was created.
func AgeColumn_MutatingWebhookConfiguration(
	config *registrationv1.MutatingWebhookConfiguration,
) (before string, since *metav1.Time, after string) {
	return "", &config.CreationTimestamp, ""
}

// AgeColumn_ValidatingWebhookConfiguration returns when a configuration was created.
func AgeColumn_ValidatingWebhookConfiguration(
	config *registrationv1.ValidatingWebhookConfiguration,
) (before string, since *metav1.Time, after string) {
	return "", &config.CreationTimestamp, ""
}

// AgeColumn_ValidatingAdmissionPolicy returns when a policy was created.
func AgeColumn_ValidatingAdmissionPolicy(
	policy *registrationv1.ValidatingAdmissionPolicy,
) (before string, since *metav1.Time, after string) {
	return "", &policy.CreationTimestamp, ""
}

// AgeColumn_ValidatingAdmissionPolicyBinding returns when a binding was created.
func AgeColumn_ValidatingAdmissionPolicyBinding(
	binding *registrationv1.ValidatingAdmissionPolicyBinding,
) (before string, since *metav1.Time, after string) {
	return "", &binding.CreationTimestamp, ""
}

// AgeColumn_MutatingAdmissionPolicy returns when a policy was created.
func AgeColumn_MutatingAdmissionPolicy(
	policy *registrationv1.MutatingAdmissionPolicy,
) (before string, since *metav1.Time, after string) {
	return "", &policy.CreationTimestamp, ""
}

// AgeColumn_MutatingAdmissionPolicyBinding returns when a binding was created.
func AgeColumn_MutatingAdmissionPolicyBinding(
	binding *registrationv1.MutatingAdmissionPolicyBinding,
) (before string, since *metav1.Time, after string) {
	return "", &binding.CreationTimestamp, ""
}
