// Package v1 serves the group flowcontrol.apiserver.k8s.io.
//
// +apigen:serve=k8s.io/api/flowcontrol/v1
// +apigen:kind("*")=+apigen:storagePrefix=*
//
// +apigen:kind(FlowSchema)=+kubebuilder:printcolumn:name=PriorityLevel,type=string,JSONPath=.spec.priorityLevelConfiguration.name
// +apigen:kind(FlowSchema)=+kubebuilder:printcolumn:name=MatchingPrecedence,type=integer,JSONPath=.spec.matchingPrecedence
// +apigen:kind(FlowSchema)=+kubebuilder:printcolumn:name=DistinguisherMethod,type=string,JSONPath=.spec.distinguisherMethod.type
// +apigen:kind(PriorityLevelConfiguration)=+kubebuilder:printcolumn:name=Type,type=string,JSONPath=.spec.type
// +apigen:kind(PriorityLevelConfiguration)=+kubebuilder:printcolumn:name=NominalConcurrencyShares,type=integer,JSONPath=.spec.limited.nominalConcurrencyShares
// +apigen:kind("FlowSchema;PriorityLevelConfiguration")=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
package v1
