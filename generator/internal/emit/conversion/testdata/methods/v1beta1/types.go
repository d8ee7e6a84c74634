// +groupName=methods.example.com

// Package v1beta1 is a spoke by controller-runtime's convention.
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "apigen.dev/generator/internal/emit/conversion/testdata/methods/v1"
)

// SchemeBuilder is what generated functions are registered with.
var SchemeBuilder runtime.SchemeBuilder

// Lamp is a kind.
// +kubebuilder:object:root=true
type Lamp struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Milliwatts int `json:"milliwatts"`
}

type hub interface{ Hub() }

// ConvertTo converts to the hub.
func (l *Lamp) ConvertTo(dst hub) error {
	out := dst.(*v1.Lamp)
	out.ObjectMeta = l.ObjectMeta
	out.Watts = l.Milliwatts / 1000
	return nil
}

// ConvertFrom converts from the hub.
func (l *Lamp) ConvertFrom(src hub) error {
	in := src.(*v1.Lamp)
	l.ObjectMeta = in.ObjectMeta
	l.Milliwatts = in.Watts * 1000
	return nil
}

// LampList is its list.
// +kubebuilder:object:root=true
type LampList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Lamp `json:"items"`
}
