// +groupName=flat.example.com

// Package v1 is the storage version, and so the hub.
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Lamp is a kind.
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
type Lamp struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec LampSpecification `json:"spec,omitempty"`
}

// LampList is its list.
// +kubebuilder:object:root=true
type LampList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Lamp `json:"items"`
}

// LampSpecification had a shorter name.
type LampSpecification struct {
	Watts int64  `json:"watts"`
	Bulbs []Bulb `json:"bulbs,omitempty"`
}

// Bulb is equal in memory.
type Bulb struct {
	Socket Socket `json:"socket"`
}

// Socket is a name.
type Socket string

// Unreached has a namesake that it can't be converted to, which doesn't matter.
type Unreached struct {
	A string
}
