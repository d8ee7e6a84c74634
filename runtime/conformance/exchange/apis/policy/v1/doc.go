// Package v1 holds policy/v1 PodDisruptionBudget: a kind with namespaces, a status, and updates that must say which
// version they were made from.
//
// +groupName=policy
// +k8s:deepcopy-gen=package
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=io.k8s.api.policy.v1
package v1
