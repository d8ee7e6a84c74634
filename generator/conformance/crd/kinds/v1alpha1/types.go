// Package v1alpha1 is a version that the definition leaves out, and one that is deprecated.
//
// +groupName=kinds.example.com
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Everything is left out.
//
// +kubebuilder:object:root=true
// +kubebuilder:skipversion
// +kubebuilder:resource:path=everythings,singular=everything,shortName=ev;evs,categories={all,things},scope=Cluster
type Everything struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// DeepCopyObject makes it an object.
func (e *Everything) DeepCopyObject() runtime.Object { return e }

// Policy is of one version, which is stored.
//
// +kubebuilder:object:root=true
// +kubebuilder:deprecatedversion
type Policy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Rules []string `json:"rules"`
}

// DeepCopyObject makes it an object.
func (p *Policy) DeepCopyObject() runtime.Object { return p }
