// Package v1 serves leases, by which controllers elect a leader, with the types of k8s.io/api.
//
// +apigen:serve=k8s.io/api/coordination/v1
//
// +apigen:kind(Lease)=+apigen:storagePrefix=leases
// +apigen:kind(Lease)=+kubebuilder:printcolumn:name=Holder,type=string,JSONPath=.spec.holderIdentity
// +apigen:kind(Lease)=+apigen:generation=false
// +apigen:kind(Lease)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
package v1
