package v1

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// SetDefaults_Secret sets the type Opaque, and moves stringData, which clients only write, into data. That is part of
// reading a secret, as in kube-apiserver, so that the client manages the fields of data.
func SetDefaults_Secret(secret *corev1.Secret) {
	if secret.Type == "" {
		secret.Type = corev1.SecretTypeOpaque
	}
	if len(secret.StringData) == 0 {
		return
	}
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	for key, value := range secret.StringData {
		secret.Data[key] = []byte(value)
	}
	secret.StringData = nil
}

var dataPath = field.NewPath("data")

// ValidateObject_Secret returns kube-apiserver's errors for the secret, in the order of its keys.
func ValidateObject_Secret(_ context.Context, secret *corev1.Secret) (errs field.ErrorList) {
	size := 0
	errs = validateFinalizers(secret)
	for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
		errs = append(errs, validateKey(dataPath, key)...)
		size += len(secret.Data[key])
	}
	if size > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(dataPath, "", corev1.MaxSecretSize))
	}
	return append(errs, validateType(secret)...)
}

// validateType returns what a secret of a known type lacks.
func validateType(secret *corev1.Secret) field.ErrorList {
	switch secret.Type {
	case corev1.SecretTypeServiceAccountToken:
		return required(secret.Annotations[corev1.ServiceAccountNameKey] != "",
			field.NewPath("metadata", "annotations").Key(corev1.ServiceAccountNameKey))
	case corev1.SecretTypeDockercfg:
		return validateJSON(secret, corev1.DockerConfigKey)
	case corev1.SecretTypeDockerConfigJson:
		return validateJSON(secret, corev1.DockerConfigJsonKey)
	case corev1.SecretTypeBasicAuth:
		if has(secret, corev1.BasicAuthUsernameKey) || has(secret, corev1.BasicAuthPasswordKey) {
			return nil
		}
		return slices.Concat(required(false, dataPath.Key(corev1.BasicAuthUsernameKey)),
			required(false, dataPath.Key(corev1.BasicAuthPasswordKey)))
	case corev1.SecretTypeSSHAuth:
		return required(len(secret.Data[corev1.SSHAuthPrivateKey]) > 0, dataPath.Key(corev1.SSHAuthPrivateKey))
	case corev1.SecretTypeTLS:
		return slices.Concat(required(has(secret, corev1.TLSCertKey), dataPath.Key(corev1.TLSCertKey)),
			required(has(secret, corev1.TLSPrivateKeyKey), dataPath.Key(corev1.TLSPrivateKeyKey)))
	}
	return nil
}

func has(secret *corev1.Secret, key string) bool {
	_, ok := secret.Data[key]
	return ok
}

func required(there bool, path *field.Path) field.ErrorList {
	if there {
		return nil
	}
	return field.ErrorList{field.Required(path, "")}
}

// validateJSON wants an object in JSON at a key. The error doesn't show the secret.
func validateJSON(secret *corev1.Secret, key string) field.ErrorList {
	if !has(secret, key) {
		return required(false, dataPath.Key(key))
	}
	if err := json.Unmarshal(secret.Data[key], &map[string]any{}); err != nil {
		return field.ErrorList{field.Invalid(dataPath.Key(key), "<secret contents redacted>", err.Error())}
	}
	return nil
}

// ValidateUpdate_Secret rejects another type, and changes of an immutable secret.
func ValidateUpdate_Secret(_ context.Context, secret, old *corev1.Secret) field.ErrorList {
	errs := validation.ValidateImmutableField(secret.Type, old.Type, field.NewPath("type"))
	if !isTrue(old.Immutable) {
		return errs
	}
	return slices.Concat(errs,
		immutableIf(!isTrue(secret.Immutable), "immutable"),
		immutableIf(!maps.EqualFunc(secret.Data, old.Data, bytes.Equal), "data"),
	)
}

// Warnings_Secret returns why the certificate and the key of a secret for TLS don't fit together.
func Warnings_Secret(_ context.Context, secret, _ *corev1.Secret) []string {
	if secret.Type != corev1.SecretTypeTLS {
		return nil
	}
	if _, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// DataColumn_Secret counts the entries of a secret.
func DataColumn_Secret(secret *corev1.Secret) int { return len(secret.Data) }

// AgeColumn_Secret returns when a secret was created.
func AgeColumn_Secret(secret *corev1.Secret) (before string, since *metav1.Time, after string) {
	return "", &secret.CreationTimestamp, ""
}
