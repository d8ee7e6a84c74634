package v1

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubernetes/internal/column"
)

const unset = "<unset>"

// CapacityColumn_PersistentVolume is the size of a volume.
func CapacityColumn_PersistentVolume(volume *corev1.PersistentVolume) string {
	size := volume.Spec.Capacity[corev1.ResourceStorage]
	return size.String()
}

// AccessModesColumn_PersistentVolume abbreviates how a volume can be mounted.
func AccessModesColumn_PersistentVolume(volume *corev1.PersistentVolume) string {
	return accessModes(volume.Spec.AccessModes)
}

// StatusColumn_PersistentVolume is the phase of a volume.
func StatusColumn_PersistentVolume(volume *corev1.PersistentVolume) string {
	if volume.DeletionTimestamp != nil {
		return "Terminating"
	}
	return string(volume.Status.Phase)
}

// ClaimColumn_PersistentVolume names the claim that a volume is bound to.
func ClaimColumn_PersistentVolume(volume *corev1.PersistentVolume) string {
	if volume.Spec.ClaimRef == nil {
		return ""
	}
	return volume.Spec.ClaimRef.Namespace + "/" + volume.Spec.ClaimRef.Name
}

// ClassColumn_PersistentVolume names the storage class of a volume.
func ClassColumn_PersistentVolume(volume *corev1.PersistentVolume) string {
	if class, found := volume.Annotations[corev1.BetaStorageClassAnnotation]; found {
		return class
	}
	return volume.Spec.StorageClassName
}

// AttributesColumn_PersistentVolume names the class of attributes of a volume.
func AttributesColumn_PersistentVolume(volume *corev1.PersistentVolume) string {
	return column.Or(volume.Spec.VolumeAttributesClassName, unset)
}

// ReasonColumn_PersistentVolume tells why a volume has failed.
func ReasonColumn_PersistentVolume(volume *corev1.PersistentVolume) string {
	return volume.Status.Reason
}

// VolumeColumn_PersistentVolumeClaim names the volume that a claim has.
func VolumeColumn_PersistentVolumeClaim(claim *corev1.PersistentVolumeClaim) string {
	return claim.Spec.VolumeName
}

// ModeColumn_PersistentVolume says whether a volume has a file system.
func ModeColumn_PersistentVolume(volume *corev1.PersistentVolume) string {
	return column.Or(volume.Spec.VolumeMode, unset)
}

// StatusColumn_PersistentVolumeClaim is the phase of a claim.
func StatusColumn_PersistentVolumeClaim(claim *corev1.PersistentVolumeClaim) string {
	if claim.DeletionTimestamp != nil {
		return "Terminating"
	}
	return string(claim.Status.Phase)
}

// CapacityColumn_PersistentVolumeClaim is the size of the volume that a claim has.
func CapacityColumn_PersistentVolumeClaim(claim *corev1.PersistentVolumeClaim) string {
	if claim.Spec.VolumeName == "" {
		return ""
	}
	size := claim.Status.Capacity[corev1.ResourceStorage]
	return size.String()
}

// AccessModesColumn_PersistentVolumeClaim abbreviates how the volume that a claim has can be mounted.
func AccessModesColumn_PersistentVolumeClaim(claim *corev1.PersistentVolumeClaim) string {
	if claim.Spec.VolumeName == "" {
		return ""
	}
	return accessModes(claim.Status.AccessModes)
}

// ClassColumn_PersistentVolumeClaim names the storage class of a claim.
func ClassColumn_PersistentVolumeClaim(claim *corev1.PersistentVolumeClaim) string {
	if class, found := claim.Annotations[corev1.BetaStorageClassAnnotation]; found {
		return class
	}
	return column.Or(claim.Spec.StorageClassName, "")
}

// AttributesColumn_PersistentVolumeClaim names the class of attributes of a claim.
func AttributesColumn_PersistentVolumeClaim(claim *corev1.PersistentVolumeClaim) string {
	return column.Or(claim.Spec.VolumeAttributesClassName, unset)
}

// ModeColumn_PersistentVolumeClaim says whether the volume has a file system.
func ModeColumn_PersistentVolumeClaim(claim *corev1.PersistentVolumeClaim) string {
	return column.Or(claim.Spec.VolumeMode, unset)
}

// shortModes abbreviate access modes, in the order of columns.
var shortModes = []struct {
	mode  corev1.PersistentVolumeAccessMode
	short string
}{
	{corev1.ReadWriteOnce, "RWO"}, {corev1.ReadOnlyMany, "ROX"}, {corev1.ReadWriteMany, "RWX"},
	{corev1.ReadWriteOncePod, "RWOP"},
}

func accessModes(modes []corev1.PersistentVolumeAccessMode) string {
	var short []string
	for _, known := range shortModes {
		if slices.Contains(modes, known.mode) {
			short = append(short, known.short)
		}
	}
	return strings.Join(short, ",")
}
