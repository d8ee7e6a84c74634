package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// WithTriggers is a plural already.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
type WithTriggers struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// AssignMetadata has none.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
type AssignMetadata struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// Person has one of its own.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
type Person struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}
