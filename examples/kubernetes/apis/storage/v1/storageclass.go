package v1

import (
	"context"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/rule"
)

// ValidateObject_StorageClass returns the errors of a new class.
func ValidateObject_StorageClass(_ context.Context, in *storagev1.StorageClass) field.ErrorList {
	path := field.NewPath("provisioner")
	if in.ResourceVersion != "" {
		return nil
	}
	errs := rule.Required(path, in.Provisioner)
	if in.Provisioner != "" {
		errs = rule.Texts(path, in.Provisioner, validation.IsQualifiedName(strings.ToLower(in.Provisioner)))
	}
	return append(errs, rule.OptionalOneOf(field.NewPath("volumeBindingMode"), in.VolumeBindingMode,
		storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer)...)
}

// ValidateUpdate_StorageClass holds what volumes of the class have.
func ValidateUpdate_StorageClass(_ context.Context, in, old *storagev1.StorageClass) field.ErrorList {
	return rule.All(
		rule.Immutable(field.NewPath("parameters"), in.Parameters, old.Parameters),
		rule.Immutable(field.NewPath("provisioner"), in.Provisioner, old.Provisioner),
		rule.Immutable(field.NewPath("reclaimPolicy"), in.ReclaimPolicy, old.ReclaimPolicy),
		rule.Immutable(field.NewPath("volumeBindingMode"), in.VolumeBindingMode, old.VolumeBindingMode),
	)
}
