// Package snippets holds the Go code that pages of the manual quote and that no example has. Nothing calls it: it is
// here to be compiled.
package snippets

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Widget stands for the hub of a kind.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// AuthorizeCreate returns an error if the user may not create this object.
func (w *Widget) AuthorizeCreate(ctx context.Context) error { return nil }

// AuthorizeUpdate returns an error if the user may not change the object in this way.
func (w *Widget) AuthorizeUpdate(ctx context.Context, old *Widget) error { return nil }

// PrepareForCreate sets fields that only the server sets.
func (w *Widget) PrepareForCreate(ctx context.Context) {}

// PrepareForUpdate resets fields that clients must not change.
func (w *Widget) PrepareForUpdate(ctx context.Context, old *Widget) {}

// Validate returns the errors of the object, on creations and on updates.
func (w *Widget) Validate(ctx context.Context) field.ErrorList { return nil }

// ValidateUpdate returns the errors of the change.
func (w *Widget) ValidateUpdate(ctx context.Context, old *Widget) field.ErrorList { return nil }

// PrepareForStatusUpdate resets what a write of the status must not change.
func (w *Widget) PrepareForStatusUpdate(ctx context.Context, old *Widget) {}

// ValidateStatusUpdate returns the errors of a write of the status.
func (w *Widget) ValidateStatusUpdate(ctx context.Context, old *Widget) field.ErrorList { return nil }

// Canonicalize normalizes a valid object before the server stores it.
func (w *Widget) Canonicalize() {}

// Warnings returns texts that the server sends in Warning headers. old is nil on a creation.
func (w *Widget) Warnings(ctx context.Context, old *Widget) []string { return nil }

// CheckGracefulDelete returns true to delete the object with a grace period, after it set options.GracePeriodSeconds.
func (w *Widget) CheckGracefulDelete(ctx context.Context, options *metav1.DeleteOptions) bool {
	return false
}

// BlocksDeletion returns true while something beside metadata.finalizers keeps a deleted object.
func (w *Widget) BlocksDeletion() bool { return false }

// PrepareForDelete changes an object that a deletion marks, such as its phase. It isn't called where nothing keeps the
// object.
func (w *Widget) PrepareForDelete(ctx context.Context) {}

// DefaultPropagationPolicy returns the policy for dependents where a deletion names none.
func (w *Widget) DefaultPropagationPolicy(ctx context.Context) metav1.DeletionPropagation {
	return metav1.DeletePropagationBackground
}

// TimeToLive returns how long the object lives after a write of it; 0 means no limit.
func (w *Widget) TimeToLive(ctx context.Context) time.Duration { return time.Hour }
