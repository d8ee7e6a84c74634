// Package v1 serves the group networking.k8s.io: a file holds the defaults, the strategy and the validation of a kind.
//
// +apigen:serve=k8s.io/api/networking/v1
// +apigen:kind("*")=+apigen:storagePrefix=*
// +apigen:kind("IPAddress;ServiceCIDR")=+apigen:generation=false
//
// +apigen:kind(Ingress)=+kubebuilder:resource:shortName=ing
// +apigen:kind(Ingress)=+apigen:storagePrefix=ingress
// +apigen:kind(Ingress)=+apigen:subresource:name=status,metadata=*
// +apigen:kind(Ingress)=+apigen:printcolumn:name=Class,type=string,method=ClassColumn
// +apigen:kind(Ingress)=+apigen:printcolumn:name=Hosts,type=string,method=HostsColumn
// +apigen:kind(Ingress)=+apigen:printcolumn:name=Address,type=string,method=AddressColumn
// +apigen:kind(Ingress)=+apigen:printcolumn:name=Ports,type=string,method=PortsColumn
//
// +apigen:kind(IngressClass)=+kubebuilder:printcolumn:name=Controller,type=string,JSONPath=.spec.controller
// +apigen:kind(IngressClass)=+apigen:printcolumn:name=Parameters,type=string,method=ParametersColumn
//
// +apigen:kind(IPAddress)=+kubebuilder:resource:shortName=ip
// +apigen:kind(IPAddress)=+apigen:name=ip
// +apigen:kind(IPAddress)=+apigen:printcolumn:name=ParentRef,type=string,method=ParentColumn
//
// +apigen:kind(NetworkPolicy)=+kubebuilder:resource:shortName=netpol
// +apigen:kind(NetworkPolicy)=+apigen:printcolumn:name=Pod-Selector,type=string,method=SelectorColumn
//
// +apigen:kind(ServiceCIDR)=+apigen:printcolumn:name=CIDRs,type=string,method=CIDRsColumn
//
// +apigen:kind("Ingress;IngressClass;NetworkPolicy;ServiceCIDR")=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
package v1
