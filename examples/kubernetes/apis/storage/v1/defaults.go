package v1

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"example.com/kubernetes/internal/defaults"
)

// SetDefaults_StorageClass sets how volumes are reclaimed and bound.
func SetDefaults_StorageClass(in *storagev1.StorageClass) {
	defaults.Pointer(&in.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
	defaults.Pointer(&in.VolumeBindingMode, storagev1.VolumeBindingImmediate)
}

// SetDefaults_CSIDriver sets what a driver needs.
func SetDefaults_CSIDriver(in *storagev1.CSIDriver) {
	defaults.Pointer(&in.Spec.AttachRequired, true)
	defaults.Pointer(&in.Spec.PodInfoOnMount, false)
	defaults.Pointer(&in.Spec.StorageCapacity, false)
	defaults.Pointer(&in.Spec.RequiresRepublish, false)
	defaults.Pointer(&in.Spec.SELinuxMount, false)
	defaults.Pointer(&in.Spec.PreventPodSchedulingIfMissing, false)
	defaults.Pointer(&in.Spec.FSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
	if len(in.Spec.VolumeLifecycleModes) == 0 {
		in.Spec.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
	}
}
