package v1

import "k8s.io/apimachinery/pkg/util/intstr"

// MinAvailableColumn is the column Min Available.
func (b *PodDisruptionBudget) MinAvailableColumn() string { return orNone(b.Spec.MinAvailable) }

// MaxUnavailableColumn is the column Max Unavailable.
func (b *PodDisruptionBudget) MaxUnavailableColumn() string { return orNone(b.Spec.MaxUnavailable) }

func orNone(value *intstr.IntOrString) string {
	if value == nil {
		return "N/A"
	}
	return value.String()
}
