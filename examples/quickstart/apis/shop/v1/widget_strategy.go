package v1

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// This file is the logic of Widget. Methods with these names and signatures are found by `apigen build` and called
// on every write; there may be any of:
//
//	PrepareForCreate(ctx context.Context)
//	PrepareForUpdate(ctx context.Context, old *Widget)
//	Validate(ctx context.Context) field.ErrorList
//	ValidateUpdate(ctx context.Context, old *Widget) field.ErrorList
//	ValidateStatusUpdate(ctx context.Context, old *Widget) field.ErrorList
//	Canonicalize()
//	Warnings(ctx context.Context, old *Widget) []string
//	CheckGracefulDelete(ctx context.Context, options *metav1.DeleteOptions) bool
//	DefaultPropagationPolicy(ctx context.Context) metav1.DeletionPropagation
//
// Defaults that a marker can't express go into functions SetDefaults_WidgetSpec(spec *WidgetSpec).

// Validate tells what is wrong with the object, on creation and on update.
func (obj *Widget) Validate(_ context.Context) field.ErrorList {
	var errs field.ErrorList
	if size := obj.Spec.Size; size != nil && *size < 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "size"), *size, "must not be negative"))
	}
	return errs
}
