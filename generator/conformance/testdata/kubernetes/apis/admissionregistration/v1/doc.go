// Package v1 serves the group admissionregistration.k8s.io.
//
// +apigen:serve=k8s.io/api/admissionregistration/v1
// +apigen:kind("*")=+apigen:storagePrefix=*
//
// +apigen:kind(MutatingAdmissionPolicy)=+kubebuilder:printcolumn:name=ParamKind,type=string,JSONPath=.spec.paramKind.kind
// +apigen:kind(MutatingAdmissionPolicyBinding)=+kubebuilder:printcolumn:name=PolicyName,type=string,JSONPath=.spec.policyName
// +apigen:kind(ValidatingAdmissionPolicy)=+kubebuilder:printcolumn:name=ParamKind,type=string,JSONPath=.spec.paramKind.kind
// +apigen:kind(ValidatingAdmissionPolicyBinding)=+kubebuilder:printcolumn:name=PolicyName,type=string,JSONPath=.spec.policyName
// +apigen:kind("MutatingAdmissionPolicy;MutatingAdmissionPolicyBinding;MutatingWebhookConfiguration;ValidatingAdmissionPolicy;ValidatingAdmissionPolicyBinding;ValidatingWebhookConfiguration")=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
package v1
