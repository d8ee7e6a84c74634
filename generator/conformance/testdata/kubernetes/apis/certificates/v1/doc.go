// Package v1 serves the group certificates.k8s.io.
//
// +apigen:serve=k8s.io/api/certificates/v1
// +apigen:serve:kinds=CertificateSigningRequest
// +apigen:kind(CertificateSigningRequest)=+apigen:storagePrefix=certificatesigningrequests
// +apigen:kind(CertificateSigningRequest)=+apigen:subresource:name=status,metadata=*
//
// +apigen:kind(CertificateSigningRequest)=+kubebuilder:resource:shortName=csr
// +apigen:kind(CertificateSigningRequest)=+apigen:subresource:name=approval,parts=.status.conditions,metadata=*
// +apigen:kind(CertificateSigningRequest)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
// +apigen:kind(CertificateSigningRequest)=+kubebuilder:printcolumn:name=SignerName,type=string,JSONPath=.spec.signerName
// +apigen:kind(CertificateSigningRequest)=+kubebuilder:printcolumn:name=Requestor,type=string,JSONPath=.spec.username
// +apigen:kind(CertificateSigningRequest)=+apigen:printcolumn:name=Condition,type=string,method=ConditionColumn
// +apigen:kind(CertificateSigningRequest)=+kubebuilder:selectablefield:JSONPath=.spec.signerName
package v1
