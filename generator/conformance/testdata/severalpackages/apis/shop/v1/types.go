// Package v1 has a kind of the version that another package has kinds of, too.
//
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
// +k8s:defaulter-gen=TypeMeta
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Lamp is a lamp.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:selectablefield:JSONPath=`.spec.color`
type Lamp struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   Spec   `json:"spec,omitempty"`
	Status Status `json:"status,omitempty"`
}

// Spec is a desired state.
type Spec struct {
	// +optional
	// +default=1
	Size *int32 `json:"size,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Color string `json:"color,omitempty"`
}

// Status is an observed state.
type Status struct {
	// +optional
	Phase string `json:"phase,omitempty"`
}
