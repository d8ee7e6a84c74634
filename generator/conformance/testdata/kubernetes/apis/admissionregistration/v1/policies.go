package v1

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/conformance/apis/internal/defaults"
)

// SetDefaults_ValidatingAdmissionPolicySpec makes policies fail closed.
func SetDefaults_ValidatingAdmissionPolicySpec(in *admissionv1.ValidatingAdmissionPolicySpec) {
	defaults.Pointer(&in.FailurePolicy, admissionv1.Fail)
}

// SetDefaults_MutatingAdmissionPolicySpec makes policies fail closed.
func SetDefaults_MutatingAdmissionPolicySpec(in *admissionv1.MutatingAdmissionPolicySpec) {
	defaults.Pointer(&in.FailurePolicy, admissionv1.Fail)
}

// SetDefaults_MatchResources matches equivalent resources of all namespaces and objects.
func SetDefaults_MatchResources(in *admissionv1.MatchResources) {
	defaults.Pointer(&in.MatchPolicy, admissionv1.Equivalent)
	defaults.Pointer(&in.NamespaceSelector, metav1.LabelSelector{})
	defaults.Pointer(&in.ObjectSelector, metav1.LabelSelector{})
}

// SetDefaults_ValidatingWebhook sets what a webhook is asked for, and how long it may take.
func SetDefaults_ValidatingWebhook(in *admissionv1.ValidatingWebhook) {
	defaults.Pointer(&in.FailurePolicy, admissionv1.Fail)
	defaults.Pointer(&in.MatchPolicy, admissionv1.Equivalent)
	defaults.Pointer(&in.NamespaceSelector, metav1.LabelSelector{})
	defaults.Pointer(&in.ObjectSelector, metav1.LabelSelector{})
	defaults.Pointer(&in.TimeoutSeconds, 10)
}

// SetDefaults_MutatingWebhook sets what a webhook is asked for, and how long it may take.
func SetDefaults_MutatingWebhook(in *admissionv1.MutatingWebhook) {
	defaults.Pointer(&in.FailurePolicy, admissionv1.Fail)
	defaults.Pointer(&in.MatchPolicy, admissionv1.Equivalent)
	defaults.Pointer(&in.NamespaceSelector, metav1.LabelSelector{})
	defaults.Pointer(&in.ObjectSelector, metav1.LabelSelector{})
	defaults.Pointer(&in.TimeoutSeconds, 10)
	defaults.Pointer(&in.ReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
}

// SetDefaults_Rule applies a rule to all scopes.
func SetDefaults_Rule(in *admissionv1.Rule) { defaults.Pointer(&in.Scope, admissionv1.AllScopes) }

// SetDefaults_ServiceReference sets the port of a service.
func SetDefaults_ServiceReference(in *admissionv1.ServiceReference) { defaults.Pointer(&in.Port, 443) }
