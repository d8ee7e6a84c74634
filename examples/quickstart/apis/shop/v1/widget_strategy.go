package v1

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// This file holds the logic of Widget. `apigen build` finds methods with these names and signatures, and the server
// calls them on every write. All of them are optional:
//
//	PrepareForCreate(ctx context.Context)
//	PrepareForUpdate(ctx context.Context, old *Widget)
//	Validate(ctx context.Context) field.ErrorList
//	ValidateUpdate(ctx context.Context, old *Widget) field.ErrorList
//	ValidateStatusUpdate(ctx context.Context, old *Widget) field.ErrorList
//	Canonicalize()
//	Warnings(ctx context.Context, old *Widget) []string
//	CheckGracefulDelete(ctx context.Context, options *metav1.DeleteOptions) bool
//	BlocksDeletion() bool
//	PrepareForDelete(ctx context.Context)
//	DefaultPropagationPolicy(ctx context.Context) metav1.DeletionPropagation
//
// Write defaults that a marker can't express in a function SetDefaults_WidgetSpec(spec *WidgetSpec).

// Validate returns the errors of the object. The server calls it on creations and updates.
func (obj *Widget) Validate(_ context.Context) field.ErrorList {
	var errs field.ErrorList
	if size := obj.Spec.Size; size != nil && *size < 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "size"), *size, "must not be negative"))
	}
	return errs
}
