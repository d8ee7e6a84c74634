package v1

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/claim"
	"example.com/kubernetes/internal/defaults"
	"example.com/kubernetes/internal/pod"
	"example.com/kubernetes/internal/rule"
)

// SetDefaults_PersistentVolume sets how a volume is reclaimed and mounted.
func SetDefaults_PersistentVolume(in *corev1.PersistentVolume) {
	defaults.Value(&in.Status.Phase, corev1.VolumePending)
	defaults.Value(&in.Spec.PersistentVolumeReclaimPolicy, corev1.PersistentVolumeReclaimRetain)
	defaults.Pointer(&in.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
}

// PrepareForCreate_PersistentVolume sets the phase, and since when a volume has it.
func PrepareForCreate_PersistentVolume(_ context.Context, in *corev1.PersistentVolume) {
	now := metav1.NewTime(time.Now())
	in.Status = corev1.PersistentVolumeStatus{Phase: corev1.VolumePending, LastPhaseTransitionTime: &now}
}

// PrepareForUpdate_PersistentVolume keeps the status.
func PrepareForUpdate_PersistentVolume(_ context.Context, in, old *corev1.PersistentVolume) {
	in.Status = old.Status
}

// PrepareForStatusUpdate_PersistentVolume notes when the phase changes.
func PrepareForStatusUpdate_PersistentVolume(_ context.Context, in, old *corev1.PersistentVolume) {
	is, was := in.Status.LastPhaseTransitionTime, old.Status.LastPhaseTransitionTime
	switch {
	case in.Status.Phase == old.Status.Phase:
		if is == nil {
			in.Status.LastPhaseTransitionTime = was
		}
	case is == nil || is.Equal(was):
		now := metav1.NewTime(time.Now())
		in.Status.LastPhaseTransitionTime = &now
	}
}

// ValidateObject_PersistentVolume returns the errors of a volume.
func ValidateObject_PersistentVolume(_ context.Context, in *corev1.PersistentVolume) field.ErrorList {
	spec, at := &in.Spec, field.NewPath("spec")
	root := spec.HostPath != nil && path.Clean(spec.HostPath.Path) == "/"
	errs := rule.All(
		rule.When(len(spec.AccessModes) == 0, field.Required(at.Child("accessModes"), "")),
		claim.ValidateModes(spec.AccessModes, at.Child("accessModes")),
		validateCapacity(spec.Capacity, at.Child("capacity")),
		rule.OneOf(at.Child("persistentVolumeReclaimPolicy"), spec.PersistentVolumeReclaimPolicy,
			corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRecycle,
			corev1.PersistentVolumeReclaimRetain),
		validateVolumeAffinity(spec.NodeAffinity, at.Child("nodeAffinity")),
		validateVolumeSource(spec, at),
		rule.When(root && spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle, field.Forbidden(
			at.Child("persistentVolumeReclaimPolicy"), "may not be 'recycle' for a hostPath mount of '/'")),
	)
	if spec.StorageClassName != "" {
		errs = append(errs, rule.Subdomain(at.Child("storageClassName"), spec.StorageClassName)...)
	}
	errs = append(errs, rule.OptionalOneOf(at.Child("volumeMode"), spec.VolumeMode, corev1.PersistentVolumeBlock,
		corev1.PersistentVolumeFilesystem)...)
	class, of := spec.VolumeAttributesClassName, at.Child("volumeAttributesClassName")
	if class == nil {
		return errs
	}
	if *class == "" {
		errs = append(errs, field.Required(of, "an empty string is disallowed"))
	} else {
		errs = append(errs, rule.Subdomain(of, *class)...)
	}
	return append(errs, rule.When(spec.CSI == nil, field.Required(at.Child("csi"),
		"has to be specified when using volumeAttributesClassName"))...)
}

func validateCapacity(capacity corev1.ResourceList, path *field.Path) rule.Errors {
	_, sized := capacity[corev1.ResourceStorage]
	errs := rule.When(len(capacity) == 0, field.Required(path, ""))
	errs = append(errs, rule.When(!sized || len(capacity) > 1, field.NotSupported(path, capacity,
		[]corev1.ResourceName{corev1.ResourceStorage}))...)
	for _, name := range slices.Sorted(maps.Keys(capacity)) {
		at, amount := path.Key(string(name)), capacity[name]
		errs = append(errs, rule.When(amount.Sign() < 0, field.Invalid(at, amount.Value(),
			"must be a valid resource quantity"))...)
		errs = append(errs, claim.PositiveQuantity(at, amount)...)
	}
	return errs
}

func validateVolumeAffinity(affinity *corev1.VolumeNodeAffinity, path *field.Path) rule.Errors {
	switch {
	case affinity == nil:
		return nil
	case affinity.Required == nil:
		return rule.Errors{field.Required(path.Child("required"), "must specify required node constraints")}
	}
	return pod.ValidateNodeSelector(affinity.Required, path.Child("required"))
}

func validateVolumeSource(spec *corev1.PersistentVolumeSpec, path *field.Path) (errs rule.Errors) {
	sources := 0
	for _, of := range pod.PersistentSources(spec) {
		switch {
		case !of.Set:
			continue
		case sources > 0:
			errs = append(errs, field.Forbidden(path.Child(of.Name), "may not specify more than 1 volume type"))
		default:
			errs = append(errs, of.Check(path.Child(of.Name))...)
		}
		sources++
	}
	if spec.Local != nil && spec.NodeAffinity == nil {
		errs = append(errs, field.Required(path.Child("nodeAffinity"), "Local volume requires node affinity"))
	}
	return append(errs, rule.When(sources == 0, field.Required(path, "must specify a volume type"))...)
}

// ValidateUpdate_PersistentVolume holds where a volume is.
func ValidateUpdate_PersistentVolume(_ context.Context, in, old *corev1.PersistentVolume) (errs field.ErrorList) {
	is, was := in.Spec.PersistentVolumeSource.DeepCopy(), &old.Spec.PersistentVolumeSource
	if is.CSI != nil && was.CSI != nil && was.CSI.ControllerExpandSecretRef == nil {
		is.CSI.ControllerExpandSecretRef = nil
	}
	if !equality.Semantic.DeepEqual(is, was) {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "persistentvolumesource"), fmt.Sprintf(
			"spec.persistentvolumesource is immutable after creation\n%v", diff.Diff(*was, *is))))
	}
	errs = append(errs, rule.Immutable(field.NewPath("volumeMode"), in.Spec.VolumeMode, old.Spec.VolumeMode)...)
	if old.Spec.NodeAffinity != nil {
		errs = append(errs, rule.When(!equality.Semantic.DeepEqual(in.Spec.NodeAffinity, old.Spec.NodeAffinity),
			field.Invalid(field.NewPath("nodeAffinity"), in.Spec.NodeAffinity,
				"field is immutable, except for updating from beta label to GA"))...)
	}
	return append(errs, rule.When(old.Spec.VolumeAttributesClassName != nil && in.Spec.VolumeAttributesClassName == nil,
		field.Forbidden(field.NewPath("spec", "volumeAttributesClassName"),
			"update from non-nil value to nil is forbidden"))...)
}
