package v1

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// MinAvailableColumn_PodDisruptionBudget returns how many pods must be available.
func MinAvailableColumn_PodDisruptionBudget(budget *policyv1.PodDisruptionBudget) string {
	return limit(budget.Spec.MinAvailable)
}

// MaxUnavailableColumn_PodDisruptionBudget returns how many pods may be unavailable.
func MaxUnavailableColumn_PodDisruptionBudget(budget *policyv1.PodDisruptionBudget) string {
	return limit(budget.Spec.MaxUnavailable)
}

func limit(n *intstr.IntOrString) string {
	if n == nil {
		return "N/A"
	}
	return n.String()
}
