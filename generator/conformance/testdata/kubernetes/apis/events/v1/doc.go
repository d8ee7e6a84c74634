// Package v1 serves the group events.k8s.io.
//
// +apigen:serve=k8s.io/api/events/v1
//
// +apigen:kind(Event)=+kubebuilder:resource:shortName=ev
// +apigen:kind(Event)=+apigen:createOnUpdate
// +apigen:kind(Event)=+kubebuilder:printcolumn:name="Last Seen",type=date,JSONPath=.deprecatedLastTimestamp
// +apigen:kind(Event)=+kubebuilder:printcolumn:name=Type,type=string,JSONPath=.type
// +apigen:kind(Event)=+kubebuilder:printcolumn:name=Reason,type=string,JSONPath=.reason
// +apigen:kind(Event)=+kubebuilder:printcolumn:name=Message,type=string,JSONPath=.note
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.reason
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.type
package v1
