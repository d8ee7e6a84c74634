// Package v1 serves kinds of the group admissionregistration that have a status.
//
// +apigen:serve=k8s.io/api/admissionregistration/v1
// +apigen:serve:kinds=ValidatingAdmissionPolicy
// +apigen:roundtrip=false
package v1
