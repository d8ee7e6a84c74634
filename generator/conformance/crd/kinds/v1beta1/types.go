// Package v1beta1 is a version that is deprecated and not served.
//
// +groupName=kinds.example.com
// +kubebuilder:validation:Optional
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Everything was less.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=everythings,singular=everything,shortName=ev;evs,categories={all,things},scope=Cluster
// +kubebuilder:unservedversion
// +kubebuilder:deprecatedversion:warning="use v1"
type Everything struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Spec `json:"spec"`
}

// Spec has few fields.
type Spec struct {
	A string `json:"a"`
	// +required
	B string `json:"b,omitempty"`
	// +kubebuilder:validation:Required
	C string `json:"c,omitempty"`
}

// DeepCopyObject makes it an object.
func (e *Everything) DeepCopyObject() runtime.Object { return e }
