package v1

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/claim"
	"example.com/kubernetes/internal/defaults"
	"example.com/kubernetes/internal/rule"
)

// SetDefaults_PersistentVolumeClaim makes a claim wait for its volume.
func SetDefaults_PersistentVolumeClaim(in *corev1.PersistentVolumeClaim) {
	defaults.Value(&in.Status.Phase, corev1.ClaimPending)
}

// SetDefaults_PersistentVolumeClaimSpec says that a volume has a file system.
func SetDefaults_PersistentVolumeClaimSpec(in *corev1.PersistentVolumeClaimSpec) {
	defaults.Pointer(&in.VolumeMode, corev1.PersistentVolumeFilesystem)
}

// PrepareForCreate_PersistentVolumeClaim leaves the status to the controller, and fills in the newer of two fields that
// name what fills the volume, or the older.
func PrepareForCreate_PersistentVolumeClaim(_ context.Context, in *corev1.PersistentVolumeClaim) {
	in.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
	setSources(&in.Spec)
}

// snapshots are the other kind, beside claims, that a volume can be filled from by the older field.
const snapshots = "snapshot.storage.k8s.io"

func setSources(spec *corev1.PersistentVolumeClaimSpec) {
	if source := spec.DataSource; source != nil {
		group := ""
		if source.APIGroup != nil {
			group = *source.APIGroup
		}
		if (group != "" || source.Kind != "PersistentVolumeClaim") &&
			(group != snapshots || source.Kind != "VolumeSnapshot") {
			spec.DataSource = nil
		}
	}
	switch source, ref := spec.DataSource, spec.DataSourceRef; {
	case source != nil && ref == nil:
		spec.DataSourceRef = &corev1.TypedObjectReference{
			APIGroup: source.APIGroup, Kind: source.Kind, Name: source.Name}
	case ref != nil && source == nil && (ref.Namespace == nil || *ref.Namespace == ""):
		spec.DataSource = &corev1.TypedLocalObjectReference{APIGroup: ref.APIGroup, Kind: ref.Kind, Name: ref.Name}
	}
	if spec.DataSourceRef != nil {
		spec.DataSourceRef.Namespace = nil // which isn't enabled
	}
}

// PrepareForUpdate_PersistentVolumeClaim keeps the status.
func PrepareForUpdate_PersistentVolumeClaim(_ context.Context, in, old *corev1.PersistentVolumeClaim) {
	in.Status = old.Status
	setSources(&in.Spec)
}

// ValidateObject_PersistentVolumeClaim returns the errors of a claim.
func ValidateObject_PersistentVolumeClaim(_ context.Context, in *corev1.PersistentVolumeClaim) field.ErrorList {
	return claim.ValidateSpec(&in.Spec, field.NewPath("spec"))
}

// ValidateUpdate_PersistentVolumeClaim holds a claim, but for the size and the attributes of a volume that it has.
func ValidateUpdate_PersistentVolumeClaim(_ context.Context, in, old *corev1.PersistentVolumeClaim) field.ErrorList {
	path := field.NewPath("spec")
	is, was := in.Spec.DeepCopy(), old.Spec.DeepCopy()
	if was.VolumeName == "" {
		was.VolumeName = is.VolumeName
	}
	const class = corev1.BetaStorageClassAnnotation
	isClass, wasClass := in.Annotations[class], old.Annotations[class]
	errs := rule.When(isClass != wasClass, field.Invalid(field.NewPath("metadata", "annotations").Key(class), isClass,
		"field is immutable"))
	if was.StorageClassName == nil && is.StorageClassName != nil &&
		(wasClass == "" || *is.StorageClassName == wasClass) {
		is.StorageClassName, errs = nil, nil
	}
	bound := in.Status.Phase == corev1.ClaimBound
	size, before := is.Resources.Requests[corev1.ResourceStorage], was.Resources.Requests[corev1.ResourceStorage]
	if bound && is.Resources.Requests != nil {
		is.Resources.Requests[corev1.ResourceStorage] = before
	}
	if bound {
		is.VolumeAttributesClassName = was.VolumeAttributesClassName
	}
	if !equality.Semantic.DeepEqual(is, was) {
		errs = append(errs, field.Forbidden(path, fmt.Sprintf("spec is immutable after creation except "+
			"resources.requests and volumeAttributesClassName for bound claims\n%v", diff.Diff(*was, *is))))
	}
	capacity := old.Status.Capacity[corev1.ResourceStorage]
	at := path.Child("resources", "requests", "storage")
	errs = append(errs, rule.When(size.Cmp(before) < 0 && size.Cmp(capacity) <= 0, field.Forbidden(at,
		"field can not be less than status.capacity"))...)
	errs = append(errs, rule.Immutable(field.NewPath("volumeMode"), in.Spec.VolumeMode, old.Spec.VolumeMode)...)
	return append(errs, validateAttributesUpdate(in, old, path.Child("volumeAttributesClassName"))...)
}

func validateAttributesUpdate(in, old *corev1.PersistentVolumeClaim, path *field.Path) rule.Errors {
	is, was := in.Spec.VolumeAttributesClassName, old.Spec.VolumeAttributesClassName
	if equality.Semantic.DeepEqual(is, was) || old.Status.CurrentVolumeAttributesClassName == nil {
		return nil
	}
	const when = " is forbidden when status.currentVolumeAttributesClassName is not nil"
	switch {
	case is == nil:
		return rule.Errors{field.Forbidden(path, "update to nil"+when)}
	case *is == "":
		return rule.Errors{field.Forbidden(path, "update to empty string"+when)}
	}
	return nil
}

// PrepareForStatusUpdate_PersistentVolumeClaim removes the field of a feature that kube-apiserver doesn't enable by
// default.
func PrepareForStatusUpdate_PersistentVolumeClaim(_ context.Context, in, _ *corev1.PersistentVolumeClaim) {
	in.Status.HealthStatus = nil
}

// ValidateStatusUpdate_PersistentVolumeClaim returns the errors of a status.
func ValidateStatusUpdate_PersistentVolumeClaim(
	_ context.Context, in, _ *corev1.PersistentVolumeClaim,
) (errs field.ErrorList) {
	path := field.NewPath("status", "capacity")
	for _, name := range slices.Sorted(maps.Keys(in.Status.Capacity)) {
		amount := in.Status.Capacity[name]
		errs = append(errs, rule.When(amount.Sign() < 0, field.Invalid(path.Key(string(name)), amount.Value(),
			"must be a valid resource quantity"))...)
	}
	return errs
}
