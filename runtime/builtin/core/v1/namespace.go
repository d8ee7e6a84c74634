package v1

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// SetDefaults_Namespace labels a namespace with its name.
func SetDefaults_Namespace(namespace *corev1.Namespace) {
	if namespace.Name != "" {
		label(namespace)
	}
}

// SetDefaults_NamespaceStatus makes a namespace active.
func SetDefaults_NamespaceStatus(status *corev1.NamespaceStatus) {
	if status.Phase == "" {
		status.Phase = corev1.NamespaceActive
	}
}

func label(namespace *corev1.Namespace) {
	if namespace.Labels == nil {
		namespace.Labels = map[string]string{}
	}
	namespace.Labels[corev1.LabelMetadataName] = namespace.Name
}

// PrepareForCreate_Namespace adds the finalizer that keeps a namespace until its content is gone.
func PrepareForCreate_Namespace(_ context.Context, namespace *corev1.Namespace) {
	namespace.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
	if !slices.Contains(namespace.Spec.Finalizers, corev1.FinalizerKubernetes) {
		namespace.Spec.Finalizers = append(namespace.Spec.Finalizers, corev1.FinalizerKubernetes)
	}
}

// PrepareForUpdate_Namespace keeps the finalizers, which only the subresource finalize changes.
func PrepareForUpdate_Namespace(_ context.Context, namespace, old *corev1.Namespace) {
	namespace.Spec.Finalizers = old.Spec.Finalizers
}

// Canonicalize_Namespace labels a namespace whose name was generated.
func Canonicalize_Namespace(namespace *corev1.Namespace) { label(namespace) }

// BlocksDeletion_Namespace reports that every namespace is deleted in two steps: the first marks it, and the
// subresource finalize removes what keeps it.
func BlocksDeletion_Namespace(namespace *corev1.Namespace) bool {
	return namespace.DeletionTimestamp == nil || len(namespace.Spec.Finalizers) > 0
}

// PrepareForDelete_Namespace sets the phase. A namespace has no grace period.
func PrepareForDelete_Namespace(_ context.Context, namespace *corev1.Namespace) {
	namespace.Status.Phase = corev1.NamespaceTerminating
	namespace.DeletionGracePeriodSeconds = nil
}

// ValidateObject_Namespace returns kube-apiserver's errors for the finalizers of a new namespace.
func ValidateObject_Namespace(_ context.Context, namespace *corev1.Namespace) (errs field.ErrorList) {
	if namespace.ResourceVersion != "" {
		return nil
	}
	errs = validateFinalizers(namespace)
	for _, finalizer := range namespace.Spec.Finalizers {
		errs = append(errs, validateFinalizer(finalizer, field.NewPath("spec", "finalizers"))...)
	}
	return errs
}

// ValidateFinalizeUpdate_Namespace returns kube-apiserver's errors for the finalizers that a client sets.
func ValidateFinalizeUpdate_Namespace(_ context.Context, namespace, _ *corev1.Namespace) (errs field.ErrorList) {
	for i, finalizer := range namespace.Spec.Finalizers {
		errs = append(errs, validateFinalizer(finalizer, field.NewPath("spec", "finalizers").Index(i))...)
	}
	return errs
}

// validateFinalizers returns kube-apiserver's errors for the finalizers in the metadata of a kind of the core group,
// beside those for every kind.
func validateFinalizers(meta metav1.Object) (errs field.ErrorList) {
	path := field.NewPath("metadata", "finalizers")
	for i, finalizer := range meta.GetFinalizers() {
		errs = append(errs, validateKnownFinalizer(finalizer, path.Index(i))...)
	}
	return errs
}

// finalizers are the names that need no domain.
var finalizers = []string{
	string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents,
}

func validateFinalizer(finalizer corev1.FinalizerName, path *field.Path) field.ErrorList {
	name := string(finalizer)
	return append(apivalidation.ValidateFinalizerName(name, path), validateKnownFinalizer(name, path)...)
}

func validateKnownFinalizer(name string, path *field.Path) (errs field.ErrorList) {
	if !strings.Contains(name, "/") && !slices.Contains(finalizers, name) {
		errs = append(errs, field.Invalid(path, name,
			"name is neither a standard finalizer name nor is it fully qualified"))
	}
	return errs
}

// ValidateStatusUpdate_Namespace holds the phase to the deletionTimestamp.
func ValidateStatusUpdate_Namespace(_ context.Context, namespace, _ *corev1.Namespace) (errs field.ErrorList) {
	phase, want, detail := field.NewPath("status", "Phase"), corev1.NamespaceActive,
		"may only be 'Active' if `deletionTimestamp` is empty"
	if namespace.DeletionTimestamp != nil {
		want, detail = corev1.NamespaceTerminating, "may only be 'Terminating' if `deletionTimestamp` is not empty"
	}
	if namespace.Status.Phase != want {
		errs = append(errs, field.Invalid(phase, namespace.Status.Phase, detail))
	}
	return errs
}

// AgeColumn_Namespace returns when a namespace was created.
func AgeColumn_Namespace(namespace *corev1.Namespace) (before string, since *metav1.Time, after string) {
	return "", &namespace.CreationTimestamp, ""
}
