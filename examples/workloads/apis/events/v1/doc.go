// Package v1 serves the events of the group events.k8s.io, which today's recorders write, with the types of k8s.io/api.
// The events of the core group are another kind here.
//
// +apigen:serve=k8s.io/api/events/v1
//
// +apigen:kind(Event)=+kubebuilder:resource:shortName=ev
// +apigen:kind(Event)=+kubebuilder:printcolumn:name=Type,type=string,JSONPath=.type
// +apigen:kind(Event)=+kubebuilder:printcolumn:name=Reason,type=string,JSONPath=.reason
// +apigen:kind(Event)=+kubebuilder:printcolumn:name=Note,type=string,JSONPath=.note
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.regarding.kind
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.regarding.name
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.reason
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.type
package v1
