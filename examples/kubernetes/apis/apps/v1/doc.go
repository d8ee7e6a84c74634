// Package v1 serves the group apps: a file holds the defaults, the strategy and the validation of a kind.
//
// +apigen:serve=k8s.io/api/apps/v1
// +apigen:kind("*")=+apigen:storagePrefix=*
// +apigen:kind("DaemonSet;ReplicaSet;StatefulSet")=+apigen:subresource:name=status,metadata=*
// +apigen:kind(Deployment)=+apigen:subresource:name=status,metadata=annotations;finalizers;ownerReferences
// +apigen:kind("Deployment;ReplicaSet;StatefulSet")=+kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.spec.selector
//
// +apigen:kind(ControllerRevision)=+apigen:generation=false
// +apigen:kind(ControllerRevision)=+apigen:printcolumn:name=Controller,type=string,method=ControllerColumn
// +apigen:kind(ControllerRevision)=+kubebuilder:printcolumn:name=Revision,type=integer,JSONPath=.revision
// +apigen:kind(ControllerRevision)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
//
// +apigen:kind(DaemonSet)=+kubebuilder:resource:shortName=ds,categories=all
// +apigen:kind(DaemonSet)=+kubebuilder:printcolumn:name=Desired,type=integer,JSONPath=.status.desiredNumberScheduled
// +apigen:kind(DaemonSet)=+kubebuilder:printcolumn:name=Current,type=integer,JSONPath=.status.currentNumberScheduled
// +apigen:kind(DaemonSet)=+kubebuilder:printcolumn:name=Ready,type=integer,JSONPath=.status.numberReady
// +apigen:kind(DaemonSet)=+kubebuilder:printcolumn:name=Up-to-date,type=integer,JSONPath=.status.updatedNumberScheduled
// +apigen:kind(DaemonSet)=+kubebuilder:printcolumn:name=Available,type=integer,JSONPath=.status.numberAvailable
// +apigen:kind(DaemonSet)=+apigen:printcolumn:name="Node Selector",type=string,method=NodeSelectorColumn
// +apigen:kind(DaemonSet)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
//
// +apigen:kind(Deployment)=+kubebuilder:resource:shortName=deploy,categories=all
// +apigen:kind(Deployment)=+apigen:printcolumn:name=Ready,type=string,method=ReadyColumn
// +apigen:kind(Deployment)=+kubebuilder:printcolumn:name=Up-to-date,type=integer,JSONPath=.status.updatedReplicas
// +apigen:kind(Deployment)=+kubebuilder:printcolumn:name=Available,type=integer,JSONPath=.status.availableReplicas
// +apigen:kind(Deployment)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
//
// +apigen:kind(ReplicaSet)=+kubebuilder:resource:shortName=rs,categories=all
// +apigen:kind(ReplicaSet)=+kubebuilder:printcolumn:name=Desired,type=integer,JSONPath=.spec.replicas
// +apigen:kind(ReplicaSet)=+kubebuilder:printcolumn:name=Current,type=integer,JSONPath=.status.replicas
// +apigen:kind(ReplicaSet)=+kubebuilder:printcolumn:name=Ready,type=integer,JSONPath=.status.readyReplicas
// +apigen:kind(ReplicaSet)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
// +apigen:kind(ReplicaSet)=+kubebuilder:selectablefield:JSONPath=.status.replicas
//
// +apigen:kind(StatefulSet)=+kubebuilder:resource:shortName=sts,categories=all
// +apigen:kind(StatefulSet)=+apigen:printcolumn:name=Ready,type=string,method=ReadyColumn
// +apigen:kind(StatefulSet)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
//
// +apigen:kind("DaemonSet;Deployment;ReplicaSet;StatefulSet")=+apigen:printcolumn:name=Containers,type=string,priority=1,method=ContainersColumn
// +apigen:kind("DaemonSet;Deployment;ReplicaSet;StatefulSet")=+apigen:printcolumn:name=Images,type=string,priority=1,method=ImagesColumn
// +apigen:kind("DaemonSet;Deployment;ReplicaSet")=+apigen:printcolumn:name=Selector,type=string,priority=1,method=SelectorColumn
package v1
