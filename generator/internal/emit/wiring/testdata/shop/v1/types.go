// Package v1 is a version of the sample group.
package v1

import (
	"apigen.dev/generator/internal/emit/wiring/testdata/shop"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Widget is a thing in a shop.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WidgetSpec        `json:"spec"`
	Status shop.WidgetStatus `json:"status,omitempty"`
}

// WidgetSpec is what is wanted.
type WidgetSpec struct {
	Color string            `json:"color"`
	Mode  shop.Mode         `json:"mode"`
	Size  *int32            `json:"size,omitempty"`
	Extra map[string]string `json:"extra,omitempty"`
	Parts []*shop.Part      `json:"parts,omitempty"`
	Limit float64           `json:"limit,omitempty"`
	On    bool              `json:"on,omitempty"`
}

// Summary is a column.
func (w *Widget) Summary() string { return w.Spec.Color }

// DeepCopyObject copies.
func (w *Widget) DeepCopyObject() runtime.Object {
	out := *w
	w.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// AddToScheme registers the types.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(schema.GroupVersion{Group: "shop.example.com", Version: "v1"}, &Widget{})
	return nil
}

// SetDefaults_Widget is written by hand.
func SetDefaults_Widget(w *Widget) {}

// SetObjectDefaults_Widget fills in the color.
func SetObjectDefaults_Widget(w *Widget) { SetDefaults_Widget(w) }

// Convert_v1_Widget_To_shop_Widget converts to the hub.
func Convert_v1_Widget_To_shop_Widget(in *Widget, out *shop.Widget, s conversion.Scope) error {
	out.ObjectMeta, out.Spec.Color, out.Status = in.ObjectMeta, in.Spec.Color, in.Status
	return nil
}

// Convert_shop_Widget_To_v1_Widget converts from the hub.
func Convert_shop_Widget_To_v1_Widget(in *shop.Widget, out *Widget, s conversion.Scope) error {
	out.ObjectMeta, out.Spec.Color, out.Status = in.ObjectMeta, in.Spec.Color, in.Status
	return nil
}
