// Package v1 serves the group coordination.k8s.io.
//
// +apigen:serve=k8s.io/api/coordination/v1
// +apigen:kind(Lease)=+apigen:storagePrefix=leases
//
// +apigen:kind(Lease)=+kubebuilder:printcolumn:name=Holder,type=string,JSONPath=.spec.holderIdentity
// +apigen:kind(Lease)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
package v1
