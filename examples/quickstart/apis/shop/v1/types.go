package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Widget is the schema of the widgets API. `kubectl explain widget` shows this comment.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:selectablefield:JSONPath=`.spec.color`
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the state that the user asks for.
	Spec WidgetSpec `json:"spec,omitempty"`
	// Status is the state that a controller observed. Controllers write it through the status subresource.
	Status WidgetStatus `json:"status,omitempty"`
}

// WidgetSpec defines the desired state of Widget.
type WidgetSpec struct {
	// Size is the number of copies that the user asks for. It is 1 where the user names none.
	// +optional
	// +default=1
	Size *int32 `json:"size,omitempty"`
	// Color is any text. Lists and watches can select by it: --field-selector spec.color=red.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Color string `json:"color,omitempty"`
}

// WidgetStatus defines the observed state of Widget.
type WidgetStatus struct {
	// Phase is a one-word summary of the state.
	// +optional
	Phase string `json:"phase,omitempty"`
	// Conditions describe the state in detail.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// WidgetList is a list of Widget objects.
//
// +kubebuilder:object:root=true
type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Widget `json:"items"`
}
