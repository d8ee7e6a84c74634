// +groupName=methods.example.com

// Package v1 is a hub by controller-runtime's convention.
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Lamp is a kind.
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
type Lamp struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Watts int `json:"watts"`
}

// Hub marks the type that others are converted to.
func (*Lamp) Hub() {}

// LampList is its list.
// +kubebuilder:object:root=true
type LampList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Lamp `json:"items"`
}
