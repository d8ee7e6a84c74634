// Package shop is the hub of the sample group.
package shop

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Widget is the hub type.
type Widget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec   WidgetSpec
	Status WidgetStatus
}

// WidgetSpec is what is wanted.
type WidgetSpec struct {
	Color string
	Mode  Mode
	Size  *int32
	Extra map[string]string
	Parts []Part
	Limit float64
	On    bool
}

// Mode is a way to work.
type Mode string

// Part is a piece.
type Part struct {
	Name  string
	Count int64
}

// WidgetStatus is what is.
type WidgetStatus struct {
	Phase      string
	LastSync   *metav1.Time
	Conditions []metav1.Condition
}

// AuthorizeCreate lets everybody create widgets.
func (w *Widget) AuthorizeCreate(ctx context.Context) error { return nil }

// AuthorizeUpdate lets everybody change them.
func (w *Widget) AuthorizeUpdate(ctx context.Context, old *Widget) error { return nil }

// PrepareForCreate sets the phase.
func (w *Widget) PrepareForCreate(ctx context.Context) { w.Status.Phase = "New" }

// PrepareForUpdate does nothing.
func (w *Widget) PrepareForUpdate(ctx context.Context, old *Widget) {}

// Validate accepts all.
func (w *Widget) Validate(ctx context.Context) field.ErrorList { return nil }

// ValidateUpdate has the signature of an admission webhook's.
func (w *Widget) ValidateUpdate(old runtime.Object) error { return nil }

// ValidateStatusUpdate accepts all.
func (w *Widget) ValidateStatusUpdate(ctx context.Context, old *Widget) field.ErrorList { return nil }

// Canonicalize does nothing.
func (w *Widget) Canonicalize() {}

// Warnings has none.
func (w *Widget) Warnings(ctx context.Context, old *Widget) []string { return nil }

// CheckGracefulDelete grants what is asked for.
func (w *Widget) CheckGracefulDelete(ctx context.Context, options *metav1.DeleteOptions) bool {
	return options.GracePeriodSeconds != nil
}

// BlocksDeletion keeps what is open.
func (w *Widget) BlocksDeletion() bool { return false }

// PrepareForDelete closes it.
func (w *Widget) PrepareForDelete(context.Context) {}

// DefaultPropagationPolicy keeps what a widget owned.
func (w *Widget) DefaultPropagationPolicy(ctx context.Context) metav1.DeletionPropagation {
	return metav1.DeletePropagationOrphan
}

// TimeToLive lets widgets live for a day.
func (w *Widget) TimeToLive(ctx context.Context) time.Duration { return 24 * time.Hour }

// ValidateName accepts all.
func (w *Widget) ValidateName(name string, generated bool) []string { return nil }

// DeepCopyInto copies.
func (w *Widget) DeepCopyInto(out *Widget) {
	*out = *w
	w.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	w.Status.DeepCopyInto(&out.Status)
}

// DeepCopyObject copies.
func (w *Widget) DeepCopyObject() runtime.Object {
	out := new(Widget)
	w.DeepCopyInto(out)
	return out
}

// DeepCopyInto copies.
func (s *WidgetStatus) DeepCopyInto(out *WidgetStatus) {
	*out = *s
	out.LastSync = s.LastSync.DeepCopy()
	out.Conditions = append([]metav1.Condition(nil), s.Conditions...)
}

// AddToScheme registers the hub types.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(schema.GroupVersion{Group: "shop.example.com", Version: runtime.APIVersionInternal}, &Widget{})
	return nil
}
