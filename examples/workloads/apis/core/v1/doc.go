// Package v1 serves kinds of the core group, /api/v1, with the types of k8s.io/api.
//
// +apigen:serve=k8s.io/api/core/v1
// +apigen:serve:kinds=ConfigMap;Secret;Pod;Node;Event;ServiceAccount
//
// +apigen:kind(ConfigMap)=+kubebuilder:resource:shortName=cm
// +apigen:kind(ConfigMap)=+apigen:printcolumn:name=Data,type=integer,method=DataColumn
// +apigen:kind(ConfigMap)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
//
// +apigen:kind(Secret)=+kubebuilder:printcolumn:name=Type,type=string,JSONPath=.type
// +apigen:kind(Secret)=+apigen:printcolumn:name=Data,type=integer,method=DataColumn
// +apigen:kind(Secret)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
// +apigen:kind(Secret)=+kubebuilder:selectablefield:JSONPath=.type
//
// +apigen:kind(Pod)=+kubebuilder:resource:shortName=po,categories=all
// +apigen:kind(Pod)=+kubebuilder:printcolumn:name=Status,type=string,JSONPath=.status.phase
// +apigen:kind(Pod)=+kubebuilder:printcolumn:name=Node,type=string,JSONPath=.spec.nodeName,priority=1
// +apigen:kind(Pod)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
// +apigen:kind(Pod)=+kubebuilder:selectablefield:JSONPath=.spec.nodeName
// +apigen:kind(Pod)=+kubebuilder:selectablefield:JSONPath=.status.phase
// +apigen:kind(Pod)=+apigen:subresource:name=attach
// +apigen:kind(Pod)=+apigen:subresource:name=binding
// +apigen:kind(Pod)=+apigen:subresource:name=ephemeralcontainers,parts=.spec.ephemeralContainers
// +apigen:kind(Pod)=+apigen:subresource:name=eviction
// +apigen:kind(Pod)=+apigen:subresource:name=exec
// +apigen:kind(Pod)=+apigen:subresource:name=log
// +apigen:kind(Pod)=+apigen:subresource:name=portforward
// +apigen:kind(Pod)=+apigen:subresource:name=resize,parts=.spec.resources;.spec.containers[*].resources;.spec.initContainers[*].resources
//
// +apigen:kind(Node)=+apigen:storagePrefix=minions
// +apigen:kind(Node)=+kubebuilder:resource:shortName=no
// +apigen:kind(Node)=+kubebuilder:printcolumn:name=Unschedulable,type=boolean,JSONPath=.spec.unschedulable
// +apigen:kind(Node)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
//
// +apigen:kind(ServiceAccount)=+kubebuilder:resource:shortName=sa
// +apigen:kind(ServiceAccount)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
// +apigen:kind(ServiceAccount)=+apigen:subresource:name=token
//
// +apigen:kind(Event)=+kubebuilder:resource:shortName=ev
// +apigen:kind(Event)=+apigen:printcolumn:name="Last Seen",type=date,method=LastSeen
// +apigen:kind(Event)=+kubebuilder:printcolumn:name=Type,type=string,JSONPath=.type
// +apigen:kind(Event)=+kubebuilder:printcolumn:name=Reason,type=string,JSONPath=.reason
// +apigen:kind(Event)=+apigen:printcolumn:name=Object,type=string,method=Target
// +apigen:kind(Event)=+kubebuilder:printcolumn:name=Message,type=string,JSONPath=.message
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.involvedObject.kind
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.involvedObject.namespace
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.involvedObject.name
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.involvedObject.uid
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.involvedObject.apiVersion
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.involvedObject.resourceVersion
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.involvedObject.fieldPath
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.reason
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.reportingComponent
// +apigen:kind(Event)=+kubebuilder:selectablefield:JSONPath=.type
// +apigen:kind(Event)=+apigen:createOnUpdate
package v1
