// Package v1 serves the group batch.
//
// +apigen:serve=k8s.io/api/batch/v1
// +apigen:kind("*")=+apigen:storagePrefix=*
// +apigen:kind("*")=+apigen:subresource:name=status,metadata=*
//
// +apigen:kind(CronJob)=+kubebuilder:resource:shortName=cj,categories=all
// +apigen:kind(CronJob)=+kubebuilder:printcolumn:name=Schedule,type=string,JSONPath=.spec.schedule
// +apigen:kind(CronJob)=+kubebuilder:printcolumn:name=Timezone,type=string,JSONPath=.spec.timeZone
// +apigen:kind(CronJob)=+kubebuilder:printcolumn:name=Suspend,type=boolean,JSONPath=.spec.suspend
// +apigen:kind(CronJob)=+apigen:printcolumn:name=Active,type=integer,method=ActiveColumn
// +apigen:kind(CronJob)=+kubebuilder:printcolumn:name="Last Schedule",type=date,JSONPath=.status.lastScheduleTime
// +apigen:kind(Job)=+kubebuilder:resource:categories=all
// +apigen:kind(Job)=+apigen:printcolumn:name=Status,type=string,method=StatusColumn
// +apigen:kind(Job)=+apigen:printcolumn:name=Completions,type=string,method=CompletionsColumn
// +apigen:kind(Job)=+apigen:selectablefield:name=status.successful,JSONPath=.status.succeeded
// +apigen:kind("CronJob;Job")=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
package v1
