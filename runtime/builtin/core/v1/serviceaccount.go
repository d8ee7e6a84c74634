package v1

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PrepareForCreate_ServiceAccount leaves nothing of the references to secrets but their names.
func PrepareForCreate_ServiceAccount(_ context.Context, account *corev1.ServiceAccount) {
	cleanReferences(account)
}

// PrepareForUpdate_ServiceAccount leaves nothing of the references to secrets but their names.
func PrepareForUpdate_ServiceAccount(_ context.Context, account, _ *corev1.ServiceAccount) {
	cleanReferences(account)
}

func cleanReferences(account *corev1.ServiceAccount) {
	for i, secret := range account.Secrets {
		account.Secrets[i] = corev1.ObjectReference{Name: secret.Name}
	}
}

//nolint:gosec // G101: the name of an annotation is no credential
const enforceMountableSecrets = "kubernetes.io/enforce-mountable-secrets"

// Warnings_ServiceAccount warns of a deprecated annotation that a client adds.
func Warnings_ServiceAccount(_ context.Context, account, old *corev1.ServiceAccount) []string {
	if old != nil {
		if _, had := old.Annotations[enforceMountableSecrets]; had {
			return nil
		}
	}
	if _, has := account.Annotations[enforceMountableSecrets]; !has {
		return nil
	}
	return []string{"metadata.annotations[" + enforceMountableSecrets + "]: deprecated in v1.32+; " +
		"prefer separate namespaces to isolate access to mounted secrets"}
}

// AgeColumn_ServiceAccount returns when an account was created.
func AgeColumn_ServiceAccount(account *corev1.ServiceAccount) (before string, since *metav1.Time, after string) {
	return "", &account.CreationTimestamp, ""
}
