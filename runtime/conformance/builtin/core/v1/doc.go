// Package v1 serves kinds of the core group that have a status, or fewer verbs than others.
//
// +apigen:serve=k8s.io/api/core/v1
// +apigen:serve:kinds=Binding;ComponentStatus;Namespace;Node;PersistentVolume;PersistentVolumeClaim;Pod;ReplicationController;ResourceQuota;Service
// +apigen:roundtrip=false
//
// +apigen:kind(Binding)=+apigen:storage=none
// +apigen:kind(Binding)=+apigen:verbs=create
// +apigen:kind(ComponentStatus)=+apigen:storage=none
// +apigen:kind(ComponentStatus)=+apigen:verbs=get;list
// +apigen:kind(ComponentStatus)=+kubebuilder:resource:shortName=cs
// +apigen:kind(ComponentStatus)=+kubebuilder:deprecatedversion:warning="v1 ComponentStatus is deprecated in v1.19+"
// +apigen:kind(Namespace)=+apigen:name=k8s-short-name
// +apigen:kind(Namespace)=+kubebuilder:resource:shortName=ns
// +apigen:kind(Namespace)=+apigen:subresource:name=finalize,parts=.spec.finalizers,metadata=*,methods=PUT
// +apigen:kind(Namespace)=+apigen:subresource:name=status,metadata=*
// +apigen:kind(Node)=+apigen:subresource:name=status,metadata=*
// +apigen:kind(PersistentVolume)=+apigen:subresource:name=status,metadata=*
// +apigen:kind(PersistentVolumeClaim)=+apigen:subresource:name=status,metadata=*
// +apigen:kind(Pod)=+apigen:subresource:name=ephemeralcontainers,parts=.spec.ephemeralContainers
// +apigen:kind(Pod)=+apigen:subresource:name=resize,parts=.spec.resources;.spec.containers[*].resources;.spec.containers[*].resizePolicy;.spec.initContainers[*].resources;.spec.initContainers[*].resizePolicy
// +apigen:kind(Pod)=+apigen:subresource:name=status,metadata=annotations;finalizers;labels
// +apigen:kind(ReplicationController)=+apigen:subresource:name=status,metadata=*
// +apigen:kind(ResourceQuota)=+apigen:subresource:name=status,metadata=*
// +apigen:kind(Service)=+apigen:subresource:name=status,metadata=*
package v1
