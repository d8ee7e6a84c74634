// Package v1 serves the group storage.k8s.io: a file holds the defaults, the strategy and the validation of a kind.
//
// +apigen:serve=k8s.io/api/storage/v1
// +apigen:kind("*")=+apigen:storagePrefix=*
// +apigen:kind("CSIDriver;CSINode;StorageClass;VolumeAttachment;VolumeAttributesClass")=+apigen:generation=false
//
// +apigen:kind(CSIDriver)=+kubebuilder:printcolumn:name=AttachRequired,type=boolean,JSONPath=.spec.attachRequired
// +apigen:kind(CSIDriver)=+kubebuilder:printcolumn:name=PodInfoOnMount,type=boolean,JSONPath=.spec.podInfoOnMount
// +apigen:kind(CSIDriver)=+kubebuilder:printcolumn:name=StorageCapacity,type=boolean,JSONPath=.spec.storageCapacity
// +apigen:kind(CSIDriver)=+apigen:printcolumn:name=TokenRequests,type=string,method=TokenRequestsColumn
// +apigen:kind(CSIDriver)=+kubebuilder:printcolumn:name=RequiresRepublish,type=boolean,JSONPath=.spec.requiresRepublish
// +apigen:kind(CSIDriver)=+apigen:printcolumn:name=Modes,type=string,method=ModesColumn
//
// +apigen:kind(CSINode)=+apigen:printcolumn:name=Drivers,type=integer,method=DriversColumn
//
// +apigen:kind(CSIStorageCapacity)=+kubebuilder:printcolumn:name=StorageClassName,type=string,JSONPath=.storageClassName
// +apigen:kind(CSIStorageCapacity)=+apigen:printcolumn:name=Capacity,type=string,method=CapacityColumn
//
// +apigen:kind(StorageClass)=+kubebuilder:resource:shortName=sc
// +apigen:kind(StorageClass)=+kubebuilder:printcolumn:name=Provisioner,type=string,JSONPath=.provisioner
// +apigen:kind(StorageClass)=+kubebuilder:printcolumn:name=ReclaimPolicy,type=string,JSONPath=.reclaimPolicy
// +apigen:kind(StorageClass)=+kubebuilder:printcolumn:name=VolumeBindingMode,type=string,JSONPath=.volumeBindingMode
// +apigen:kind(StorageClass)=+apigen:printcolumn:name=AllowVolumeExpansion,type=boolean,method=ExpansionColumn
//
// +apigen:kind(VolumeAttachment)=+kubebuilder:printcolumn:name=Attacher,type=string,JSONPath=.spec.attacher
// +apigen:kind(VolumeAttachment)=+kubebuilder:printcolumn:name=PV,type=string,JSONPath=.spec.source.persistentVolumeName
// +apigen:kind(VolumeAttachment)=+kubebuilder:printcolumn:name=Node,type=string,JSONPath=.spec.nodeName
// +apigen:kind(VolumeAttachment)=+kubebuilder:printcolumn:name=Attached,type=boolean,JSONPath=.status.attached
//
// +apigen:kind(VolumeAttributesClass)=+kubebuilder:resource:shortName=vac
// +apigen:kind(VolumeAttributesClass)=+kubebuilder:printcolumn:name=DriverName,type=string,JSONPath=.driverName
//
// +apigen:kind("CSIDriver;CSINode;StorageClass;VolumeAttachment;VolumeAttributesClass")=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
package v1
