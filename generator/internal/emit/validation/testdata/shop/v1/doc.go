// Package v1 is an API with rules of all kinds: those of controller-gen's grammar in CRD, those of Kubernetes' own in
// Declarative.
//
// +k8s:deepcopy-gen=package
// +k8s:validation-gen=TypesWithField=TypeMeta
// +groupName=shop.example.com
package v1
