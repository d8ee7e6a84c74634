// Package v1 serves the kinds of the core group that apigen has no ready-made ones of. A file holds the defaults, the
// strategy and the validation of a kind.
//
// +apigen:serve=k8s.io/api/core/v1
// +apigen:serve:kinds=Binding;ComponentStatus;Endpoints;Node;PersistentVolume;PersistentVolumeClaim;Pod;PodTemplate;ReplicationController;Service
// +apigen:kind("Binding;ComponentStatus")=+apigen:storage=none
// +apigen:kind("PersistentVolume;PersistentVolumeClaim;Pod;PodTemplate")=+apigen:storagePrefix=*
// +apigen:kind("Node;PersistentVolume;PersistentVolumeClaim;ReplicationController;Service")=+apigen:subresource:name=status,metadata=*
//
// +apigen:kind(Binding)=+apigen:verbs=create
//
// +apigen:kind(ComponentStatus)=+apigen:verbs=get;list
// +apigen:kind(ComponentStatus)=+kubebuilder:resource:shortName=cs
// +apigen:kind(ComponentStatus)=+apigen:printcolumn:name=Status,type=string,method=StatusColumn
// +apigen:kind(ComponentStatus)=+apigen:printcolumn:name=Message,type=string,method=MessageColumn
// +apigen:kind(ComponentStatus)=+apigen:printcolumn:name=Error,type=string,method=ErrorColumn
//
// +apigen:kind(Endpoints)=+kubebuilder:resource:shortName=ep
// +apigen:kind(Endpoints)=+apigen:storagePrefix=services/endpoints
// +apigen:kind(Endpoints)=+apigen:printcolumn:name=Endpoints,type=string,method=EndpointsColumn
//
// +apigen:kind(Node)=+kubebuilder:resource:shortName=no
// +apigen:kind(Node)=+apigen:storagePrefix=minions
// +apigen:kind(Node)=+apigen:generation=false
// +apigen:kind(Node)=+apigen:printcolumn:name=Status,type=string,method=StatusColumn
// +apigen:kind(Node)=+apigen:printcolumn:name=Roles,type=string,method=RolesColumn
// +apigen:kind(Node)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
// +apigen:kind(Node)=+kubebuilder:printcolumn:name=Version,type=string,JSONPath=.status.nodeInfo.kubeletVersion
// +apigen:kind(Node)=+apigen:printcolumn:name=Internal-IP,type=string,priority=1,method=InternalIPColumn
// +apigen:kind(Node)=+apigen:printcolumn:name=External-IP,type=string,priority=1,method=ExternalIPColumn
// +apigen:kind(Node)=+apigen:printcolumn:name=OS-Image,type=string,priority=1,method=OSImageColumn
// +apigen:kind(Node)=+apigen:printcolumn:name=Kernel-Version,type=string,priority=1,method=KernelVersionColumn
// +apigen:kind(Node)=+apigen:printcolumn:name=Container-Runtime,type=string,priority=1,method=ContainerRuntimeColumn
// +apigen:kind(Node)=+kubebuilder:selectablefield:JSONPath=.spec.unschedulable
//
// +apigen:kind(PersistentVolume)=+kubebuilder:resource:shortName=pv
// +apigen:kind(PersistentVolume)=+apigen:generation=false
// +apigen:kind(PersistentVolume)=+apigen:returnDeletedObject
// +apigen:kind(PersistentVolume)=+apigen:printcolumn:name=Capacity,type=string,method=CapacityColumn
// +apigen:kind(PersistentVolume)=+apigen:printcolumn:name="Access Modes",type=string,method=AccessModesColumn
// +apigen:kind(PersistentVolume)=+kubebuilder:printcolumn:name="Reclaim Policy",type=string,JSONPath=.spec.persistentVolumeReclaimPolicy
// +apigen:kind(PersistentVolume)=+apigen:printcolumn:name=Status,type=string,method=StatusColumn
// +apigen:kind(PersistentVolume)=+apigen:printcolumn:name=Claim,type=string,method=ClaimColumn
// +apigen:kind(PersistentVolume)=+apigen:printcolumn:name=StorageClass,type=string,method=ClassColumn
// +apigen:kind(PersistentVolume)=+apigen:printcolumn:name=VolumeAttributesClass,type=string,method=AttributesColumn
// +apigen:kind(PersistentVolume)=+apigen:printcolumn:name=Reason,type=string,method=ReasonColumn
// +apigen:kind(PersistentVolume)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
// +apigen:kind(PersistentVolume)=+apigen:printcolumn:name=VolumeMode,type=string,priority=1,method=ModeColumn
//
// +apigen:kind(PersistentVolumeClaim)=+kubebuilder:resource:shortName=pvc
// +apigen:kind(PersistentVolumeClaim)=+apigen:generation=false
// +apigen:kind(PersistentVolumeClaim)=+apigen:returnDeletedObject
// +apigen:kind(PersistentVolumeClaim)=+apigen:printcolumn:name=Status,type=string,method=StatusColumn
// +apigen:kind(PersistentVolumeClaim)=+apigen:printcolumn:name=Volume,type=string,method=VolumeColumn
// +apigen:kind(PersistentVolumeClaim)=+apigen:printcolumn:name=Capacity,type=string,method=CapacityColumn
// +apigen:kind(PersistentVolumeClaim)=+apigen:printcolumn:name="Access Modes",type=string,method=AccessModesColumn
// +apigen:kind(PersistentVolumeClaim)=+apigen:printcolumn:name=StorageClass,type=string,method=ClassColumn
// +apigen:kind(PersistentVolumeClaim)=+apigen:printcolumn:name=VolumeAttributesClass,type=string,method=AttributesColumn
// +apigen:kind(PersistentVolumeClaim)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
// +apigen:kind(PersistentVolumeClaim)=+apigen:printcolumn:name=VolumeMode,type=string,priority=1,method=ModeColumn
//
// +apigen:kind(Pod)=+kubebuilder:resource:shortName=po,categories=all
// +apigen:kind(Pod)=+apigen:returnDeletedObject
// +apigen:kind(Pod)=+apigen:subresource:name=status,metadata=annotations;finalizers;labels
// +apigen:kind(Pod)=+apigen:subresource:name=binding
// +apigen:kind(Pod)=+apigen:subresource:name=ephemeralcontainers,parts=.spec.ephemeralContainers
// +apigen:kind(Pod)=+apigen:subresource:name=eviction
// +apigen:kind(Pod)=+apigen:subresource:name=resize,parts=.spec.resources;.spec.containers[*].resources;.spec.containers[*].resizePolicy;.spec.initContainers[*].resources;.spec.initContainers[*].resizePolicy
// +apigen:kind(Pod)=+apigen:printcolumn:name=Ready,type=string,method=ReadyColumn
// +apigen:kind(Pod)=+apigen:printcolumn:name=Status,type=string,method=StatusColumn
// +apigen:kind(Pod)=+apigen:printcolumn:name=Restarts,type=string,method=RestartsColumn
// +apigen:kind(Pod)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
// +apigen:kind(Pod)=+apigen:printcolumn:name=IP,type=string,priority=1,method=IPColumn
// +apigen:kind(Pod)=+apigen:printcolumn:name=Node,type=string,priority=1,method=NodeColumn
// +apigen:kind(Pod)=+apigen:printcolumn:name="Nominated Node",type=string,priority=1,method=NominatedNodeColumn
// +apigen:kind(Pod)=+apigen:printcolumn:name="Readiness Gates",type=string,priority=1,method=ReadinessGatesColumn
// +apigen:kind(Pod)=+kubebuilder:selectablefield:JSONPath=.spec.nodeName
// +apigen:kind(Pod)=+kubebuilder:selectablefield:JSONPath=.spec.restartPolicy
// +apigen:kind(Pod)=+kubebuilder:selectablefield:JSONPath=.spec.schedulerName
// +apigen:kind(Pod)=+kubebuilder:selectablefield:JSONPath=.spec.serviceAccountName
// +apigen:kind(Pod)=+kubebuilder:selectablefield:JSONPath=.spec.hostNetwork
// +apigen:kind(Pod)=+kubebuilder:selectablefield:JSONPath=.status.phase
// +apigen:kind(Pod)=+kubebuilder:selectablefield:JSONPath=.status.podIP
// +apigen:kind(Pod)=+kubebuilder:selectablefield:JSONPath=.status.nominatedNodeName
//
// +apigen:kind(PodTemplate)=+apigen:returnDeletedObject
// +apigen:kind(PodTemplate)=+apigen:generation=true
// +apigen:kind(PodTemplate)=+apigen:printcolumn:name=Containers,type=string,method=ContainersColumn
// +apigen:kind(PodTemplate)=+apigen:printcolumn:name=Images,type=string,method=ImagesColumn
// +apigen:kind(PodTemplate)=+apigen:printcolumn:name="Pod Labels",type=string,method=LabelsColumn
//
// +apigen:kind(ReplicationController)=+kubebuilder:resource:shortName=rc,categories=all
// +apigen:kind(ReplicationController)=+apigen:storagePrefix=controllers
// +apigen:kind(ReplicationController)=+kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.spec.selector
// +apigen:kind(ReplicationController)=+kubebuilder:printcolumn:name=Desired,type=integer,JSONPath=.spec.replicas
// +apigen:kind(ReplicationController)=+kubebuilder:printcolumn:name=Current,type=integer,JSONPath=.status.replicas
// +apigen:kind(ReplicationController)=+kubebuilder:printcolumn:name=Ready,type=integer,JSONPath=.status.readyReplicas
// +apigen:kind(ReplicationController)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
// +apigen:kind(ReplicationController)=+apigen:printcolumn:name=Containers,type=string,priority=1,method=ContainersColumn
// +apigen:kind(ReplicationController)=+apigen:printcolumn:name=Images,type=string,priority=1,method=ImagesColumn
// +apigen:kind(ReplicationController)=+apigen:printcolumn:name=Selector,type=string,priority=1,method=SelectorColumn
// +apigen:kind(ReplicationController)=+kubebuilder:selectablefield:JSONPath=.status.replicas
//
// +apigen:kind(Service)=+kubebuilder:resource:shortName=svc,categories=all
// +apigen:kind(Service)=+apigen:storagePrefix=services/specs
// +apigen:kind(Service)=+apigen:generation=false
// +apigen:kind(Service)=+apigen:verbs=create;delete;deleteCollection;get;list;patch;update;watch
// +apigen:kind(Service)=+apigen:returnDeletedObject
// +apigen:kind(Service)=+apigen:name=k8s-short-name
// +apigen:kind(Service)=+kubebuilder:printcolumn:name=Type,type=string,JSONPath=.spec.type
// +apigen:kind(Service)=+apigen:printcolumn:name=Cluster-IP,type=string,method=ClusterIPColumn
// +apigen:kind(Service)=+apigen:printcolumn:name=External-IP,type=string,method=ExternalIPColumn
// +apigen:kind(Service)=+apigen:printcolumn:name="Port(s)",type=string,method=PortsColumn
// +apigen:kind(Service)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
// +apigen:kind(Service)=+apigen:printcolumn:name=Selector,type=string,priority=1,method=SelectorColumn
// +apigen:kind(Service)=+kubebuilder:selectablefield:JSONPath=.spec.clusterIP
// +apigen:kind(Service)=+kubebuilder:selectablefield:JSONPath=.spec.type
//
// +apigen:kind("Endpoints")=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
package v1
