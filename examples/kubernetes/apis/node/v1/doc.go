// Package v1 serves the group node.k8s.io.
//
// +apigen:serve=k8s.io/api/node/v1
// +apigen:kind(RuntimeClass)=+apigen:storagePrefix=runtimeclasses
//
// +apigen:kind(RuntimeClass)=+kubebuilder:printcolumn:name=Handler,type=string,JSONPath=.handler
// +apigen:kind(RuntimeClass)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
package v1
