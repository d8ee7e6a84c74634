// Package v1 serves kinds of the group apps that have a status.
//
// +apigen:serve=k8s.io/api/apps/v1
// +apigen:serve:kinds=DaemonSet;Deployment;ReplicaSet;StatefulSet
// +apigen:roundtrip=false
//
// +apigen:kind(DaemonSet)=+apigen:subresource:name=status,metadata=*
// +apigen:kind(Deployment)=+apigen:subresource:name=status,metadata=annotations;finalizers;ownerReferences
// +apigen:kind(ReplicaSet)=+apigen:subresource:name=status,metadata=*
// +apigen:kind(StatefulSet)=+apigen:subresource:name=status,metadata=*
package v1
