// Package v2 serves kinds of the group autoscaling that have a status.
//
// +apigen:serve=k8s.io/api/autoscaling/v2
// +apigen:serve:kinds=HorizontalPodAutoscaler
// +apigen:roundtrip=false
//
// +apigen:kind(HorizontalPodAutoscaler)=+apigen:subresource:name=status,metadata=*
package v2
