// +groupName=carry.example.com

// Package v1 is a hub with fields that v1beta1 has no place for.
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

// RackSpec has a preserved field of each form, and fields of all forms that lead to one.
type RackSpec struct {
	Height int32 `json:"height,omitempty"`
	// +apigen:conversion:preserve
	Price Money `json:"price,omitempty"`
	// +apigen:conversion:preserve
	Note *string `json:"note,omitempty"`
	// +apigen:conversion:preserve
	Locked bool `json:"locked,omitempty"`
	// +listType=map
	// +listMapKey=name
	Slots  []Slot           `json:"slots,omitempty"`
	Loose  []*Slot          `json:"loose,omitempty"`
	Cells  map[string]Slot  `json:"cells,omitempty"`
	Far    map[string]*Slot `json:"far,omitempty"`
	Door   *Slot            `json:"door,omitempty"`
	Groups []Group          `json:"groups,omitempty"`
}

// Money is an amount.
type Money struct {
	Cents    int64  `json:"cents,omitempty"`
	Currency string `json:"currency,omitempty"`
}

// Slot has a preserved field.
type Slot struct {
	Name string `json:"name"`
	// +apigen:conversion:preserve
	Labels []string `json:"labels,omitempty"`
}

// Group holds lists in a list.
type Group struct {
	ID    int32  `json:"id"`
	Slots []Slot `json:"slots,omitempty"`
}
