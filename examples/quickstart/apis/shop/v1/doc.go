// The markers below are about the whole package. They name its group, and ask for DeepCopy functions and for defaults;
// +k8s:openapi-gen is for other tools. `go tool apigen markers` prints all markers.

// Package v1 holds the kinds of API group shop.example.com in version v1.
//
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
// +k8s:defaulter-gen=TypeMeta
// +k8s:openapi-gen=true
package v1
