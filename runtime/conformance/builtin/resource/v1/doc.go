// Package v1 serves kinds of the group resource that have a status.
//
// +apigen:serve=k8s.io/api/resource/v1
// +apigen:serve:kinds=ResourceClaim
// +apigen:roundtrip=false
package v1
