// Package v1 has tools, with types that are called as those of the other package of the version.
//
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
// +k8s:defaulter-gen=TypeMeta
package v1

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Tool is a tool.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
type Tool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Spec `json:"spec,omitempty"`
}

// Validate refuses tools without a handle.
func (in *Tool) Validate(context.Context) field.ErrorList {
	if in.Spec.Handle == "none" {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "handle"), in.Spec.Handle, "is needed")}
	}
	return nil
}

// Spec is a desired state.
type Spec struct {
	// +optional
	// +default="wood"
	Handle string `json:"handle,omitempty"`
}
