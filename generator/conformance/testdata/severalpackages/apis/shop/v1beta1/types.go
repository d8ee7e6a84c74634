// Package v1beta1 has all kinds in one package.
//
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
// +k8s:defaulter-gen=TypeMeta
package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Lamp is a lamp.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:selectablefield:JSONPath=`.spec.color`
type Lamp struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   LampSpec   `json:"spec,omitempty"`
	Status LampStatus `json:"status,omitempty"`
}

// LampSpec is a desired state.
type LampSpec struct {
	// +optional
	// +default=1
	Size *int32 `json:"size,omitempty"`
	// +optional
	Color string `json:"color,omitempty"`
}

// LampStatus is an observed state.
type LampStatus struct {
	// +optional
	Phase string `json:"phase,omitempty"`
}

// Tool is a tool.
//
// +kubebuilder:object:root=true
type Tool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ToolSpec `json:"spec,omitempty"`
}

// ToolSpec is a desired state.
type ToolSpec struct {
	// +apigen:conversion:name=Handle
	// +optional
	// +default="wood"
	Grip string `json:"grip,omitempty"`
}
