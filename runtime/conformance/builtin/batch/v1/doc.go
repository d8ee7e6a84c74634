// Package v1 serves kinds of the group batch that have a status.
//
// +apigen:serve=k8s.io/api/batch/v1
// +apigen:serve:kinds=CronJob;Job
// +apigen:roundtrip=false
//
// +apigen:kind(CronJob)=+apigen:subresource:name=status,metadata=*
// +apigen:kind(Job)=+apigen:subresource:name=status,metadata=*
package v1
