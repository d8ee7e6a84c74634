// Package v1 serves leases, with the types of k8s.io/api, as kube-apiserver does.
//
// +apigen:serve=k8s.io/api/coordination/v1
//
// +apigen:kind(Lease)=+apigen:storagePrefix=leases
// +apigen:kind(Lease)=+apigen:createOnUpdate
// +apigen:kind(Lease)=+apigen:requireResourceVersion
// +apigen:kind(Lease)=+apigen:generation=false
// +apigen:kind(Lease)=+kubebuilder:printcolumn:name=Holder,type=string,JSONPath=.spec.holderIdentity
// +apigen:kind(Lease)=+apigen:printcolumn:name=Age,type=string,method=AgeColumn
package v1
