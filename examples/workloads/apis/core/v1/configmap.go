package v1

import (
	"bytes"
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateObject_ConfigMap returns kube-apiserver's errors for the config map.
func ValidateObject_ConfigMap(_ context.Context, config *corev1.ConfigMap) field.ErrorList {
	var errs field.ErrorList
	size := 0
	check := func(path *field.Path, key string, length int) {
		for _, message := range validation.IsConfigMapKey(key) {
			errs = append(errs, field.Invalid(path.Key(key), key, message))
		}
		size += length
	}
	for _, key := range slices.Sorted(maps.Keys(config.Data)) {
		check(field.NewPath("data"), key, len(config.Data[key]))
		if _, twice := config.BinaryData[key]; twice {
			errs = append(errs, field.Invalid(field.NewPath("data").Key(key), key,
				"duplicate of key present in binaryData"))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(config.BinaryData)) {
		check(field.NewPath("binaryData"), key, len(config.BinaryData[key]))
	}
	if size > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(field.NewPath(""), "", corev1.MaxSecretSize))
	}
	return errs
}

// ValidateUpdate_ConfigMap rejects changes of an immutable config map.
func ValidateUpdate_ConfigMap(_ context.Context, config, old *corev1.ConfigMap) field.ErrorList {
	if old.Immutable == nil || !*old.Immutable {
		return nil
	}
	var errs field.ErrorList
	forbid := func(name string, changed bool) {
		if changed {
			errs = append(errs, field.Forbidden(field.NewPath(name), "field is immutable when `immutable` is set"))
		}
	}
	forbid("immutable", config.Immutable == nil || !*config.Immutable)
	forbid("data", !maps.Equal(config.Data, old.Data))
	forbid("binaryData", !maps.EqualFunc(config.BinaryData, old.BinaryData, bytes.Equal))
	return errs
}

// DataColumn_ConfigMap counts the entries of a config map.
func DataColumn_ConfigMap(config *corev1.ConfigMap) int {
	return len(config.Data) + len(config.BinaryData)
}
