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
// +apigen:kind(Pod)=+apigen:printcolumn:name=Ready,type=string,method=ReadyColumn
// +apigen:kind(Pod)=+apigen:printcolumn:name=Status,type=string,method=StatusColumn
// +apigen:kind(Pod)=+apigen:printcolumn:name=Restarts,type=string,method=RestartsColumn
// +apigen:kind(Pod)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
// +apigen:kind(Pod)=+apigen:printcolumn:name=IP,type=string,priority=1,method=IPColumn
// +apigen:kind(Pod)=+apigen:printcolumn:name=Node,type=string,priority=1,method=NodeColumn
// +apigen:kind(Pod)=+apigen:printcolumn:name="Nominated Node",type=string,priority=1,method=NominatedNodeColumn
// +apigen:kind(Pod)=+apigen:printcolumn:name="Readiness Gates",type=string,priority=1,method=ReadinessGatesColumn
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
// +apigen:kind(Node)=+apigen:printcolumn:name=Status,type=string,method=StatusColumn
// +apigen:kind(Node)=+apigen:printcolumn:name=Roles,type=string,method=RolesColumn
// +apigen:kind(Node)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
// +apigen:kind(Node)=+kubebuilder:printcolumn:name=Version,type=string,JSONPath=.status.nodeInfo.kubeletVersion
// +apigen:kind(Node)=+apigen:printcolumn:name=Internal-IP,type=string,priority=1,method=InternalIPColumn
// +apigen:kind(Node)=+apigen:printcolumn:name=External-IP,type=string,priority=1,method=ExternalIPColumn
// +apigen:kind(Node)=+apigen:printcolumn:name=OS-Image,type=string,priority=1,method=OSImageColumn
// +apigen:kind(Node)=+apigen:printcolumn:name=Kernel-Version,type=string,priority=1,method=KernelVersionColumn
// +apigen:kind(Node)=+apigen:printcolumn:name=Container-Runtime,type=string,priority=1,method=ContainerRuntimeColumn
//
// +apigen:kind(ServiceAccount)=+kubebuilder:resource:shortName=sa
// +apigen:kind(ServiceAccount)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
// +apigen:kind(ServiceAccount)=+apigen:subresource:name=token
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
package v1
