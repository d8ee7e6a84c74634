// Package v1 is an API with defaults of all kinds.
//
// +k8s:deepcopy-gen=package
// +k8s:defaulter-gen=TypeMeta
// +groupName=library.example.com
package v1
