// Package v1 serves endpoint slices.
//
// +apigen:serve=k8s.io/api/discovery/v1
// +apigen:kind(EndpointSlice)=+apigen:storagePrefix=endpointslices
//
// +apigen:kind(EndpointSlice)=+kubebuilder:printcolumn:name=AddressType,type=string,JSONPath=.addressType
// +apigen:kind(EndpointSlice)=+apigen:printcolumn:name=Ports,type=string,method=PortsColumn
// +apigen:kind(EndpointSlice)=+apigen:printcolumn:name=Endpoints,type=string,method=EndpointsColumn
// +apigen:kind(EndpointSlice)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
package v1
