// Package v1 serves kinds of the core group that every server can use, with the types of k8s.io/api, as kube-apiserver
// does: defaults, validation, preparation and columns. It may know the packages auth and reach.
//
// +apigen:serve=k8s.io/api/core/v1
// +apigen:serve:kinds=ConfigMap;Event;LimitRange;Namespace;ResourceQuota;Secret;ServiceAccount
// +apigen:kind("*")=+apigen:storagePrefix=*
// +apigen:kind("*")=+apigen:generation=false
//
// +apigen:kind(ConfigMap)=+kubebuilder:resource:shortName=cm
// +apigen:kind(ConfigMap)=+apigen:printcolumn:name=Data,type=integer,method=DataColumn
// +apigen:kind(ConfigMap)=+apigen:printcolumn:name=Age,type=string,method=AgeColumn
//
// +apigen:kind(Secret)=+kubebuilder:printcolumn:name=Type,type=string,JSONPath=.type
// +apigen:kind(Secret)=+apigen:printcolumn:name=Data,type=integer,method=DataColumn
// +apigen:kind(Secret)=+apigen:printcolumn:name=Age,type=string,method=AgeColumn
// +apigen:kind(Secret)=+kubebuilder:selectablefield:JSONPath=.type
//
// +apigen:kind(ServiceAccount)=+kubebuilder:resource:shortName=sa
// +apigen:kind(ServiceAccount)=+apigen:printcolumn:name=Age,type=string,method=AgeColumn
// +apigen:kind(ServiceAccount)=+apigen:returnDeletedObject
// +apigen:kind(ServiceAccount)=+apigen:subresource:name=token
//
// +apigen:kind("Namespace;ResourceQuota")=+apigen:subresource:name=status,metadata=*
//
// +apigen:kind(Namespace)=+kubebuilder:resource:shortName=ns
// +apigen:kind(Namespace)=+apigen:name=k8s-short-name
// +apigen:kind(Namespace)=+apigen:subresource:name=finalize,parts=.spec.finalizers,metadata=*,methods=PUT
// +apigen:kind(Namespace)=+kubebuilder:printcolumn:name=Status,type=string,JSONPath=.status.phase
// +apigen:kind(Namespace)=+apigen:printcolumn:name=Age,type=string,method=AgeColumn
// +apigen:kind(Namespace)=+kubebuilder:selectablefield:JSONPath=.status.phase
// +apigen:kind(Namespace)=+apigen:verbs=get;list;watch;create;update;patch;delete
//
// +apigen:kind(ResourceQuota)=+kubebuilder:resource:shortName=quota
// +apigen:kind(ResourceQuota)=+apigen:printcolumn:name=Request,type=string,method=RequestColumn
// +apigen:kind(ResourceQuota)=+apigen:printcolumn:name=Limit,type=string,method=LimitColumn
// +apigen:kind(ResourceQuota)=+apigen:printcolumn:name=Age,type=string,method=AgeColumn
// +apigen:kind(ResourceQuota)=+apigen:returnDeletedObject
//
// +apigen:kind(LimitRange)=+kubebuilder:resource:shortName=limits
// +apigen:kind(LimitRange)=+apigen:printcolumn:name="Created At",type=string,method=CreatedAtColumn
//
// +apigen:kind(Event)=+kubebuilder:resource:shortName=ev
// +apigen:kind(Event)=+apigen:printcolumn:name="Last Seen",type=string,method=LastSeenColumn
// +apigen:kind(Event)=+kubebuilder:printcolumn:name=Type,type=string,JSONPath=.type
// +apigen:kind(Event)=+kubebuilder:printcolumn:name=Reason,type=string,JSONPath=.reason
// +apigen:kind(Event)=+apigen:printcolumn:name=Object,type=string,method=ObjectColumn
// +apigen:kind(Event)=+kubebuilder:printcolumn:name=Subobject,type=string,JSONPath=.involvedObject.fieldPath,priority=1
// +apigen:kind(Event)=+apigen:printcolumn:name=Source,type=string,priority=1,method=SourceColumn
// +apigen:kind(Event)=+apigen:printcolumn:name=Message,type=string,method=MessageColumn
// +apigen:kind(Event)=+apigen:printcolumn:name="First Seen",type=string,priority=1,method=FirstSeenColumn
// +apigen:kind(Event)=+apigen:printcolumn:name=Count,type=integer,priority=1,method=CountColumn
// +apigen:kind(Event)=+apigen:printcolumn:name=Name,format=name,priority=1
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.involvedObject.kind
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.involvedObject.namespace
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.involvedObject.name
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.involvedObject.uid
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.involvedObject.apiVersion
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.involvedObject.resourceVersion
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.involvedObject.fieldPath
// +apigen:kind(Event)=+apigen:selectablefield:name=source,method=SourceField
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.reason
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.reportingComponent
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.type
// +apigen:kind(Event)=+apigen:createOnUpdate
// +apigen:kind(Event)=+apigen:name=k8s-path-segment-name
package v1
