// Package v1 serves deployments and replica sets of the group apps, with the types of k8s.io/api.
//
// +apigen:serve=k8s.io/api/apps/v1
// +apigen:serve:kinds=Deployment;ReplicaSet
//
// +apigen:kind(Deployment)=+apigen:storagePrefix=deployments
// +apigen:kind(Deployment)=+kubebuilder:resource:shortName=deploy,categories=all
// +apigen:kind(Deployment)=+kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.spec.selector
// +apigen:kind(Deployment)=+apigen:printcolumn:name=Ready,type=string,method=ReadyColumn
// +apigen:kind(Deployment)=+kubebuilder:printcolumn:name=Up-to-date,type=integer,JSONPath=.status.updatedReplicas
// +apigen:kind(Deployment)=+kubebuilder:printcolumn:name=Available,type=integer,JSONPath=.status.availableReplicas
// +apigen:kind(Deployment)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
// +apigen:kind(Deployment)=+apigen:printcolumn:name=Containers,type=string,priority=1,method=ContainersColumn
// +apigen:kind(Deployment)=+apigen:printcolumn:name=Images,type=string,priority=1,method=ImagesColumn
// +apigen:kind(Deployment)=+apigen:printcolumn:name=Selector,type=string,priority=1,method=SelectorColumn
// +apigen:kind(Deployment)=+apigen:subresource:name=status,metadata=annotations;finalizers;ownerReferences
//
// +apigen:kind(ReplicaSet)=+apigen:storagePrefix=replicasets
// +apigen:kind(ReplicaSet)=+kubebuilder:resource:shortName=rs,categories=all
// +apigen:kind(ReplicaSet)=+kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.spec.selector
// +apigen:kind(ReplicaSet)=+kubebuilder:printcolumn:name=Desired,type=integer,JSONPath=.spec.replicas
// +apigen:kind(ReplicaSet)=+kubebuilder:printcolumn:name=Current,type=integer,JSONPath=.status.replicas
// +apigen:kind(ReplicaSet)=+kubebuilder:printcolumn:name=Ready,type=integer,JSONPath=.status.readyReplicas
// +apigen:kind(ReplicaSet)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
// +apigen:kind(ReplicaSet)=+apigen:printcolumn:name=Containers,type=string,priority=1,method=ContainersColumn
// +apigen:kind(ReplicaSet)=+apigen:printcolumn:name=Images,type=string,priority=1,method=ImagesColumn
// +apigen:kind(ReplicaSet)=+apigen:printcolumn:name=Selector,type=string,priority=1,method=SelectorColumn
// +apigen:kind(ReplicaSet)=+kubebuilder:selectablefield:JSONPath=.status.replicas
package v1
