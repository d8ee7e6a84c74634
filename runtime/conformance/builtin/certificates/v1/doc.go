// Package v1 serves kinds of the group certificates that have a status.
//
// +apigen:serve=k8s.io/api/certificates/v1
// +apigen:serve:kinds=CertificateSigningRequest
// +apigen:roundtrip=false
//
// +apigen:kind(CertificateSigningRequest)=+apigen:subresource:name=approval,parts=.status.conditions,metadata=*
// +apigen:kind(CertificateSigningRequest)=+apigen:subresource:name=status,metadata=*
package v1
