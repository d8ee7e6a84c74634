// Package v1 serves admission policies, their bindings, and the configurations of webhooks, with the types of
// k8s.io/api, as kube-apiserver does: defaults, validation and columns. It may know the packages auth,
// reach and request.
//
// +apigen:serve=k8s.io/api/admissionregistration/v1
// +apigen:kind("*")=+apigen:storagePrefix=*
// +apigen:kind("*")=+kubebuilder:resource:categories=api-extensions
// +apigen:kind("*")=+apigen:requireResourceVersion
// +apigen:kind("MutatingWebhookConfiguration;ValidatingWebhookConfiguration")=+apigen:generation=true
//
// +apigen:kind("MutatingWebhookConfiguration;ValidatingWebhookConfiguration")=+apigen:printcolumn:name=Webhooks,type=integer,method=WebhooksColumn
// +apigen:kind(ValidatingAdmissionPolicy)=+apigen:printcolumn:name=Validations,type=integer,method=ValidationsColumn
// +apigen:kind(MutatingAdmissionPolicy)=+apigen:printcolumn:name=Mutations,type=integer,method=MutationsColumn
// +apigen:kind("MutatingAdmissionPolicy;ValidatingAdmissionPolicy")=+apigen:printcolumn:name=ParamKind,type=string,method=ParamKindColumn
// +apigen:kind("MutatingAdmissionPolicyBinding;ValidatingAdmissionPolicyBinding")=+kubebuilder:printcolumn:name=PolicyName,type=string,JSONPath=.spec.policyName
// +apigen:kind("MutatingAdmissionPolicyBinding;ValidatingAdmissionPolicyBinding")=+apigen:printcolumn:name=ParamRef,type=string,method=ParamRefColumn
// +apigen:kind("MutatingAdmissionPolicy;MutatingAdmissionPolicyBinding;MutatingWebhookConfiguration;ValidatingAdmissionPolicy;ValidatingAdmissionPolicyBinding;ValidatingWebhookConfiguration")=+apigen:printcolumn:name=Age,type=string,method=AgeColumn
package v1
