// Package v1 is the core group: its name is empty, as that of Kubernetes' own pods and config maps.
//
// +groupName=
// +k8s:deepcopy-gen=package
// +kubebuilder:object:generate=true
package v1
