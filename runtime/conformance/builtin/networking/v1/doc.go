// Package v1 serves kinds of the group networking that have a status.
//
// +apigen:serve=k8s.io/api/networking/v1
// +apigen:serve:kinds=Ingress;ServiceCIDR
// +apigen:roundtrip=false
//
// +apigen:kind(Ingress)=+apigen:subresource:name=status,metadata=*
package v1
