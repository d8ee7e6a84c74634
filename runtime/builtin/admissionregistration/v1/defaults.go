package v1

import (
	registrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SetDefaults_ValidatingWebhook has a webhook fail closed after ten seconds, and see all objects in every version.
func SetDefaults_ValidatingWebhook(hook *registrationv1.ValidatingWebhook) {
	setDefault(&hook.FailurePolicy, registrationv1.Fail)
	setDefault(&hook.TimeoutSeconds, 10)
	setDefaultMatch(&hook.MatchPolicy, &hook.NamespaceSelector, &hook.ObjectSelector)
}

// SetDefaults_MutatingWebhook has a webhook fail closed after ten seconds, see all objects in every version, and see
// each write once.
func SetDefaults_MutatingWebhook(hook *registrationv1.MutatingWebhook) {
	setDefault(&hook.FailurePolicy, registrationv1.Fail)
	setDefault(&hook.TimeoutSeconds, 10)
	setDefault(&hook.ReinvocationPolicy, registrationv1.NeverReinvocationPolicy)
	setDefaultMatch(&hook.MatchPolicy, &hook.NamespaceSelector, &hook.ObjectSelector)
}

// SetDefaults_Rule has a rule be for namespaced and for cluster-scoped resources.
func SetDefaults_Rule(rule *registrationv1.Rule) { setDefault(&rule.Scope, registrationv1.AllScopes) }

// SetDefaults_ServiceReference sets the port of HTTPS.
func SetDefaults_ServiceReference(service *registrationv1.ServiceReference) {
	setDefault(&service.Port, 443)
}

// SetDefaults_ValidatingAdmissionPolicySpec has a policy fail closed.
func SetDefaults_ValidatingAdmissionPolicySpec(spec *registrationv1.ValidatingAdmissionPolicySpec) {
	setDefault(&spec.FailurePolicy, registrationv1.Fail)
}

// SetDefaults_MutatingAdmissionPolicySpec has a policy fail closed.
func SetDefaults_MutatingAdmissionPolicySpec(spec *registrationv1.MutatingAdmissionPolicySpec) {
	setDefault(&spec.FailurePolicy, registrationv1.Fail)
}

// SetDefaults_MatchResources has a policy see all objects in every version.
func SetDefaults_MatchResources(match *registrationv1.MatchResources) {
	setDefaultMatch(&match.MatchPolicy, &match.NamespaceSelector, &match.ObjectSelector)
}

func setDefaultMatch(policy **registrationv1.MatchPolicyType, selectors ...**metav1.LabelSelector) {
	setDefault(policy, registrationv1.Equivalent)
	for _, selector := range selectors {
		setDefault(selector, metav1.LabelSelector{})
	}
}

func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
