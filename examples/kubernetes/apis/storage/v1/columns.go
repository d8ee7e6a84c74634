package v1

import (
	"strings"

	storagev1 "k8s.io/api/storage/v1"

	"example.com/kubernetes/internal/column"
)

// TokenRequestsColumn_CSIDriver lists the audiences of the tokens that a driver gets.
func TokenRequestsColumn_CSIDriver(driver *storagev1.CSIDriver) string {
	if driver.Spec.TokenRequests == nil {
		return "<unset>"
	}
	var audiences []string
	for _, request := range driver.Spec.TokenRequests {
		audiences = append(audiences, request.Audience)
	}
	return strings.Join(audiences, ",")
}

// ModesColumn_CSIDriver lists the kinds of volumes.
func ModesColumn_CSIDriver(driver *storagev1.CSIDriver) string {
	var modes []string
	for _, mode := range driver.Spec.VolumeLifecycleModes {
		modes = append(modes, string(mode))
	}
	if len(modes) == 0 {
		return column.None
	}
	return strings.Join(modes, ",")
}

// DriversColumn_CSINode counts the drivers of a node.
func DriversColumn_CSINode(node *storagev1.CSINode) int { return len(node.Spec.Drivers) }

// CapacityColumn_CSIStorageCapacity shows the capacity.
func CapacityColumn_CSIStorageCapacity(capacity *storagev1.CSIStorageCapacity) string {
	if capacity.Capacity == nil {
		return "<unset>"
	}
	return capacity.Capacity.String()
}

// ExpansionColumn_StorageClass says whether volumes can grow.
func ExpansionColumn_StorageClass(class *storagev1.StorageClass) bool {
	return class.AllowVolumeExpansion != nil && *class.AllowVolumeExpansion
}
