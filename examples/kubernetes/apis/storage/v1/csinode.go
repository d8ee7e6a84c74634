package v1

import (
	"context"

	storagev1 "k8s.io/api/storage/v1"
)

// PrepareForCreate_CSINode leaves the status to the kubelet.
func PrepareForCreate_CSINode(_ context.Context, in *storagev1.CSINode) {
	in.Status = storagev1.CSINodeStatus{}
}

// PrepareForUpdate_CSINode keeps the status.
func PrepareForUpdate_CSINode(_ context.Context, in, old *storagev1.CSINode) { in.Status = old.Status }

// PrepareForStatusUpdate_CSINode removes the field of a feature that kube-apiserver doesn't enable by default.
func PrepareForStatusUpdate_CSINode(_ context.Context, in, _ *storagev1.CSINode) {
	in.Status.StorageHealth = nil
}
