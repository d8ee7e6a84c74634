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
	var errs rule.Errors
	if in.Provisioner != "" { // the type's own tags report that there is none
		errs = rule.Texts(path, in.Provisioner, validation.IsQualifiedName(strings.ToLower(in.Provisioner)))
	}
	return append(errs, rule.OptionalOneOf(field.NewPath("volumeBindingMode"), in.VolumeBindingMode,
		storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer)...)
}
