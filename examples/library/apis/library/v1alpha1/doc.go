// Package v1alpha1 holds the kinds of API group library.example.com in version v1alpha1: a book has one author there, in
// one field, and counts its pages under another name.
//
// +groupName=library.example.com
// +k8s:deepcopy-gen=package
// +k8s:conversion-gen=example.com/library/apis/library
// +k8s:defaulter-gen=TypeMeta
// +k8s:openapi-gen=true
package v1alpha1
