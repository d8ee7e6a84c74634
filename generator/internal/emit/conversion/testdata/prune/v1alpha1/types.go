// +groupName=prune.example.com
// +apigen:conversion:prune

// Package v1alpha1 lacks fields of the hub, and has others.
package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Rack is a kind.
// +kubebuilder:object:root=true
type Rack struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec RackSpec `json:"spec,omitempty"`
}

// RackSpec has a field that is pruned.
type RackSpec struct {
	Height int32  `json:"height,omitempty"`
	Colour string `json:"colour,omitempty"`
	Slots  []Slot `json:"slots,omitempty"`
}

// Slot has a field that is pruned, in a struct without a name.
type Slot struct {
	Name string `json:"name,omitempty"`
	Fan  struct {
		Left, Front bool
	} `json:"fan"`
}
