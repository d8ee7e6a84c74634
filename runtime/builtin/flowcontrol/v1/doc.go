// Package v1 serves flow schemas and priority levels, with the types of k8s.io/api, as kube-apiserver does: defaults,
// validation and columns. It may know the packages builtin/flowcontrol/preset and flow/queue.
//
// +apigen:serve=k8s.io/api/flowcontrol/v1
// +apigen:kind("*")=+apigen:storagePrefix=*
//
// +apigen:kind(FlowSchema)=+kubebuilder:printcolumn:name=PriorityLevel,type=string,JSONPath=.spec.priorityLevelConfiguration.name
// +apigen:kind(FlowSchema)=+apigen:printcolumn:name=MatchingPrecedence,type=string,method=PrecedenceColumn
// +apigen:kind(FlowSchema)=+apigen:printcolumn:name=DistinguisherMethod,type=string,method=DistinguisherColumn
// +apigen:kind(FlowSchema)=+apigen:printcolumn:name=Age,type=string,method=AgeColumn
// +apigen:kind(FlowSchema)=+apigen:printcolumn:name=MissingPL,type=string,method=MissingColumn
//
// +apigen:kind(PriorityLevelConfiguration)=+kubebuilder:printcolumn:name=Type,type=string,JSONPath=.spec.type
// +apigen:kind(PriorityLevelConfiguration)=+apigen:printcolumn:name=NominalConcurrencyShares,type=string,method=SharesColumn
// +apigen:kind(PriorityLevelConfiguration)=+apigen:printcolumn:name=Queues,type=string,method=QueuesColumn
// +apigen:kind(PriorityLevelConfiguration)=+apigen:printcolumn:name=HandSize,type=string,method=HandColumn
// +apigen:kind(PriorityLevelConfiguration)=+apigen:printcolumn:name=QueueLengthLimit,type=string,method=LengthColumn
// +apigen:kind(PriorityLevelConfiguration)=+apigen:printcolumn:name=Age,type=string,method=AgeColumn
package v1
