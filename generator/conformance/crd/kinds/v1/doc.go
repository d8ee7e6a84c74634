// Package v1 has a kind of everything that a CustomResourceDefinition can say.
//
// +groupName=kinds.example.com
// +kubebuilder:object:generate=false
package v1
