// Package v1 serves priority classes.
//
// +apigen:serve=k8s.io/api/scheduling/v1
// +apigen:serve:kinds=PriorityClass
// +apigen:kind(PriorityClass)=+apigen:storagePrefix=priorityclasses
//
// +apigen:kind(PriorityClass)=+kubebuilder:resource:shortName=pc
// +apigen:kind(PriorityClass)=+kubebuilder:printcolumn:name=Value,type=integer,JSONPath=.value
// +apigen:kind(PriorityClass)=+kubebuilder:printcolumn:name=Global-Default,type=boolean,JSONPath=.globalDefault
// +apigen:kind(PriorityClass)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
// +apigen:kind(PriorityClass)=+kubebuilder:printcolumn:name=PreemptionPolicy,type=string,JSONPath=.preemptionPolicy
package v1
