package v1

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// SetDefaults_Secret sets the type Opaque.
func SetDefaults_Secret(secret *corev1.Secret) {
	if secret.Type == "" {
		secret.Type = corev1.SecretTypeOpaque
	}
}

// PrepareForCreate_Secret moves stringData, which is a convenience of writers, into data.
func PrepareForCreate_Secret(_ context.Context, secret *corev1.Secret) { takeOver(secret) }

// PrepareForUpdate_Secret moves stringData into data.
func PrepareForUpdate_Secret(_ context.Context, secret, _ *corev1.Secret) { takeOver(secret) }

// takeOver moves stringData into a new map, because the stored object may share the old one.
func takeOver(secret *corev1.Secret) {
	if len(secret.StringData) == 0 {
		return
	}
	data := maps.Clone(secret.Data)
	if data == nil {
		data = map[string][]byte{}
	}
	for key, value := range secret.StringData {
		data[key] = []byte(value)
	}
	secret.Data, secret.StringData = data, nil
}

// ValidateUpdate_Secret rejects a change of the type, and any change of an immutable secret's data.
func ValidateUpdate_Secret(_ context.Context, secret, old *corev1.Secret) field.ErrorList {
	var errs field.ErrorList
	if secret.Type != old.Type {
		errs = append(errs, field.Invalid(field.NewPath("type"), secret.Type, "field is immutable"))
	}
	if old.Immutable == nil || !*old.Immutable {
		return errs
	}
	if secret.Immutable == nil || !*secret.Immutable {
		errs = append(errs, field.Forbidden(field.NewPath("immutable"), "field is immutable when `immutable` is set"))
	}
	if !maps.EqualFunc(secret.Data, old.Data, func(a, b []byte) bool { return string(a) == string(b) }) {
		errs = append(errs, field.Forbidden(field.NewPath("data"), "field is immutable when `immutable` is set"))
	}
	return errs
}

// DataColumn_Secret counts the entries of a secret.
func DataColumn_Secret(secret *corev1.Secret) int { return len(secret.Data) }
