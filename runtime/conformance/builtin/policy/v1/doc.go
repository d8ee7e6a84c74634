// Package v1 serves kinds of the group policy that have a status.
//
// +apigen:serve=k8s.io/api/policy/v1
// +apigen:serve:kinds=PodDisruptionBudget
// +apigen:roundtrip=false
//
// +apigen:kind(PodDisruptionBudget)=+apigen:subresource:name=status,metadata=*
package v1
