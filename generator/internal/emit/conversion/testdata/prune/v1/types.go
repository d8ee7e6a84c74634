// +groupName=prune.example.com

// Package v1 is a hub with fields that v1alpha1 lacks.
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Rack is a kind.
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
type Rack struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec RackSpec `json:"spec,omitempty"`
}

// RackSpec has a field that is pruned, and one that is kept.
type RackSpec struct {
	Height int32  `json:"height,omitempty"`
	Depth  *int32 `json:"depth,omitempty"`
	// +apigen:conversion:preserve
	Note  string `json:"note,omitempty"`
	Slots []Slot `json:"slots,omitempty"`
}

// Slot has fields that are pruned, one of them in a struct without a name.
type Slot struct {
	Name  string `json:"name,omitempty"`
	Watts int    `json:"watts,omitempty"`
	Fan   struct {
		Left, Back bool
	} `json:"fan"`
}
