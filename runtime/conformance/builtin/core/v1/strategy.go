package v1

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PrepareForUpdate_Namespace reverts spec.finalizers, which namespaces/finalize alone changes.
func PrepareForUpdate_Namespace(_ context.Context, namespace, old *corev1.Namespace) {
	namespace.Spec.Finalizers = old.Spec.Finalizers
}

// ValidateUpdate_Pod rejects what pods/ephemeralcontainers and pods/resize change, and updates don't.
func ValidateUpdate_Pod(_ context.Context, pod, old *corev1.Pod) field.ErrorList {
	if equality.Semantic.DeepEqual(pod.Spec, old.Spec) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec"), "updates may not change the spec of a pod")}
}
