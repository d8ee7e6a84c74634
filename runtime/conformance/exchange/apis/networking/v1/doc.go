// Package v1 holds networking.k8s.io/v1 IngressClass: a kind without namespaces and without a status.
//
// +groupName=networking.k8s.io
// +k8s:deepcopy-gen=package
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=io.k8s.api.networking.v1
package v1
