// The markers below concern the whole package: which group it belongs to, that its types get DeepCopy functions, that
// the defaults of its kinds are applied, and that its schema is published for kubectl explain. What else there is:
// go tool apigen markers.

// Package v1 holds the kinds of API group shop.example.com in version v1.
//
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
// +k8s:defaulter-gen=TypeMeta
// +k8s:openapi-gen=true
package v1
