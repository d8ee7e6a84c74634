// Package v1 serves the group resource.k8s.io.
//
// +apigen:serve=k8s.io/api/resource/v1
// +apigen:serve:kinds=DeviceClass;DeviceTaintRule;ResourceClaim;ResourceClaimTemplate;ResourceSlice
// +apigen:kind("*")=+apigen:storagePrefix=*
//
// +apigen:kind(DeviceTaintRule)=+kubebuilder:printcolumn:name=Key,type=string,JSONPath=.spec.taint.key
// +apigen:kind(DeviceTaintRule)=+apigen:printcolumn:name=Value,type=string,method=ValueColumn
// +apigen:kind(DeviceTaintRule)=+kubebuilder:printcolumn:name=Effect,type=string,JSONPath=.spec.taint.effect
// +apigen:kind(DeviceTaintRule)=+kubebuilder:printcolumn:name=TimeAdded,type=date,JSONPath=.spec.taint.timeAdded
// +apigen:kind(ResourceClaim)=+apigen:printcolumn:name=State,type=string,method=StateColumn
// +apigen:kind(ResourceSlice)=+kubebuilder:printcolumn:name=Node,type=string,JSONPath=.spec.nodeName
// +apigen:kind(ResourceSlice)=+kubebuilder:printcolumn:name=Driver,type=string,JSONPath=.spec.driver
// +apigen:kind(ResourceSlice)=+kubebuilder:printcolumn:name=Pool,type=string,JSONPath=.spec.pool.name
// +apigen:kind(ResourceSlice)=+kubebuilder:selectablefield:JSONPath=.spec.nodeName
// +apigen:kind(ResourceSlice)=+kubebuilder:selectablefield:JSONPath=.spec.driver
// +apigen:kind("DeviceClass;DeviceTaintRule;ResourceClaim;ResourceClaimTemplate;ResourceSlice")=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
package v1
