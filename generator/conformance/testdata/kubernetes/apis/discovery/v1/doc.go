// Package v1 serves the group discovery.k8s.io.
//
// +apigen:serve=k8s.io/api/discovery/v1
// +apigen:kind(EndpointSlice)=+apigen:storagePrefix=endpointslices
//
// +apigen:kind(EndpointSlice)=+kubebuilder:printcolumn:name=AddressType,type=string,JSONPath=.addressType
// +apigen:kind(EndpointSlice)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
package v1
