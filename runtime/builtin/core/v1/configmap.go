package v1

import (
	"bytes"
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateObject_ConfigMap returns kube-apiserver's errors for the config map, in the order of its keys.
func ValidateObject_ConfigMap(_ context.Context, config *corev1.ConfigMap) (errs field.ErrorList) {
	errs = validateFinalizers(config)
	data, binary, size := field.NewPath("data"), field.NewPath("binaryData"), 0
	for _, key := range slices.Sorted(maps.Keys(config.Data)) {
		errs = append(errs, validateKey(data, key)...)
		if _, twice := config.BinaryData[key]; twice {
			errs = append(errs, field.Invalid(data.Key(key), key, "duplicate of key present in binaryData"))
		}
		size += len(config.Data[key])
	}
	for _, key := range slices.Sorted(maps.Keys(config.BinaryData)) {
		errs = append(errs, validateKey(binary, key)...)
		size += len(config.BinaryData[key])
	}
	if size > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(field.NewPath(""), "", corev1.MaxSecretSize))
	}
	return errs
}

// validateKey returns why a key of a config map or a secret can't be the name of a file.
func validateKey(path *field.Path, key string) (errs field.ErrorList) {
	for _, message := range validation.IsConfigMapKey(key) {
		errs = append(errs, field.Invalid(path.Key(key), key, message))
	}
	return errs
}

// ValidateUpdate_ConfigMap rejects changes of an immutable config map.
func ValidateUpdate_ConfigMap(_ context.Context, config, old *corev1.ConfigMap) field.ErrorList {
	if !isTrue(old.Immutable) {
		return nil
	}
	return slices.Concat(
		immutableIf(!isTrue(config.Immutable), "immutable"),
		immutableIf(!maps.Equal(config.Data, old.Data), "data"),
		immutableIf(!maps.EqualFunc(config.BinaryData, old.BinaryData, bytes.Equal), "binaryData"),
	)
}

func isTrue(flag *bool) bool { return flag != nil && *flag }

// immutableIf returns the error of a changed field of an immutable object.
func immutableIf(changed bool, name string) field.ErrorList {
	if !changed {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath(name), "field is immutable when `immutable` is set")}
}

// DataColumn_ConfigMap counts the entries of a config map.
func DataColumn_ConfigMap(config *corev1.ConfigMap) int {
	return len(config.Data) + len(config.BinaryData)
}

// AgeColumn_ConfigMap returns when a config map was created.
func AgeColumn_ConfigMap(config *corev1.ConfigMap) (before string, since *metav1.Time, after string) {
	return "", &config.CreationTimestamp, ""
}
