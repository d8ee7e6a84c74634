// Package v1 serves the group batch: a file holds the defaults, the strategy and the validation of a kind.
//
// +apigen:serve=k8s.io/api/batch/v1
// +apigen:kind("*")=+apigen:storagePrefix=*
// +apigen:kind("*")=+apigen:subresource:name=status,metadata=*
//
// +apigen:kind(CronJob)=+kubebuilder:resource:shortName=cj,categories=all
// +apigen:kind(CronJob)=+kubebuilder:printcolumn:name=Schedule,type=string,JSONPath=.spec.schedule
// +apigen:kind(CronJob)=+apigen:printcolumn:name=Timezone,type=string,method=TimezoneColumn
// +apigen:kind(CronJob)=+apigen:printcolumn:name=Suspend,type=string,method=SuspendColumn
// +apigen:kind(CronJob)=+apigen:printcolumn:name=Active,type=integer,method=ActiveColumn
// +apigen:kind(CronJob)=+apigen:printcolumn:name="Last Schedule",type=string,method=LastScheduleColumn
//
// +apigen:kind(Job)=+kubebuilder:resource:categories=all
// +apigen:kind(Job)=+apigen:printcolumn:name=Status,type=string,method=StatusColumn
// +apigen:kind(Job)=+apigen:printcolumn:name=Completions,type=string,method=CompletionsColumn
// +apigen:kind(Job)=+apigen:printcolumn:name=Duration,type=string,method=DurationColumn
// +apigen:kind(Job)=+apigen:selectablefield:name=status.successful,JSONPath=.status.succeeded
//
// +apigen:kind("CronJob;Job")=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
// +apigen:kind("CronJob;Job")=+apigen:printcolumn:name=Containers,type=string,priority=1,method=ContainersColumn
// +apigen:kind("CronJob;Job")=+apigen:printcolumn:name=Images,type=string,priority=1,method=ImagesColumn
// +apigen:kind("CronJob;Job")=+apigen:printcolumn:name=Selector,type=string,priority=1,method=SelectorColumn
package v1
