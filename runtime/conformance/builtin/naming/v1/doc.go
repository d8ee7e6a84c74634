// Package v1 has a kind for each rule for names that a built-in kind of Kubernetes follows.
//
// +groupName=naming.example.com
// +k8s:deepcopy-gen=package
package v1
