// Package v1 serves events in the group events.k8s.io, which recorders write today, with the types of k8s.io/api.
// They are the objects that the core group serves as events.
//
// +apigen:serve=k8s.io/api/events/v1
//
// +apigen:kind(Event)=+apigen:sameAs=apigen.dev/runtime/builtin/core/v1.Event
// +apigen:kind(Event)=+apigen:conversion:names=Regarding:InvolvedObject;Note:Message;DeprecatedSource:Source
// +apigen:kind(Event)=+apigen:conversion:names=DeprecatedFirstTimestamp:FirstTimestamp;DeprecatedCount:Count
// +apigen:kind(Event)=+apigen:conversion:names=DeprecatedLastTimestamp:LastTimestamp
//
// +apigen:kind(Event)=+kubebuilder:resource:shortName=ev
// +apigen:kind(Event)=+apigen:printcolumn:name="Last Seen",type=string,method=LastSeenColumn
// +apigen:kind(Event)=+kubebuilder:printcolumn:name=Type,type=string,JSONPath=.type
// +apigen:kind(Event)=+kubebuilder:printcolumn:name=Reason,type=string,JSONPath=.reason
// +apigen:kind(Event)=+apigen:printcolumn:name=Object,type=string,method=ObjectColumn
// +apigen:kind(Event)=+kubebuilder:printcolumn:name=Subobject,type=string,JSONPath=.regarding.fieldPath,priority=1
// +apigen:kind(Event)=+apigen:printcolumn:name=Source,type=string,priority=1,method=SourceColumn
// +apigen:kind(Event)=+apigen:printcolumn:name=Message,type=string,method=MessageColumn
// +apigen:kind(Event)=+apigen:printcolumn:name="First Seen",type=string,priority=1,method=FirstSeenColumn
// +apigen:kind(Event)=+apigen:printcolumn:name=Count,type=integer,priority=1,method=CountColumn
// +apigen:kind(Event)=+apigen:printcolumn:name=Name,format=name,priority=1
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.regarding.kind
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.regarding.namespace
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.regarding.name
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.regarding.uid
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.regarding.apiVersion
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.regarding.resourceVersion
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.regarding.fieldPath
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.reason
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.reportingController
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.type
// +apigen:kind(Event)=+apigen:createOnUpdate
// +apigen:kind(Event)=+apigen:generation=false
package v1
