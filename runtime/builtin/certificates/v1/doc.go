// Package v1 serves certificate signing requests with the types of k8s.io/api, as kube-apiserver does: preparation,
// validation and columns. It may know package auth.
//
// +apigen:serve=k8s.io/api/certificates/v1
// +apigen:serve:kinds=CertificateSigningRequest
// +apigen:kind(CertificateSigningRequest)=+apigen:generation=false
// +apigen:kind(CertificateSigningRequest)=+apigen:storagePrefix=certificatesigningrequests
// +apigen:kind(CertificateSigningRequest)=+apigen:name=any
// +apigen:kind(CertificateSigningRequest)=+apigen:subresource:name=approval,parts=.status.conditions,metadata=*
// +apigen:kind(CertificateSigningRequest)=+apigen:subresource:name=status,metadata=*
// +apigen:kind(CertificateSigningRequest)=+kubebuilder:resource:shortName=csr
// +apigen:kind(CertificateSigningRequest)=+kubebuilder:selectablefield:JSONPath=.spec.signerName
// +apigen:kind(CertificateSigningRequest)=+apigen:printcolumn:name=Age,type=string,method=AgeColumn
// +apigen:kind(CertificateSigningRequest)=+kubebuilder:printcolumn:name=SignerName,type=string,JSONPath=.spec.signerName
// +apigen:kind(CertificateSigningRequest)=+kubebuilder:printcolumn:name=Requestor,type=string,JSONPath=.spec.username
// +apigen:kind(CertificateSigningRequest)=+apigen:printcolumn:name=RequestedDuration,type=string,method=DurationColumn
// +apigen:kind(CertificateSigningRequest)=+apigen:printcolumn:name=Condition,type=string,method=ConditionColumn
package v1
