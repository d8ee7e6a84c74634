// +groupName=flat.example.com

// Package v1beta1 is a spoke without saying so.
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// SchemeBuilder is what generated functions are registered with.
var SchemeBuilder = runtime.NewSchemeBuilder()

// Lamp is a kind.
// +kubebuilder:object:root=true
type Lamp struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec LampSpec `json:"spec,omitempty"`
}

// LampList is its list.
// +kubebuilder:object:root=true
type LampList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Lamp `json:"items"`
}

// LampSpec is LampSpecification in the hub.
type LampSpec struct {
	Watts int32  `json:"watts"`
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
	B string
}
