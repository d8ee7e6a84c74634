package v1

import (
	"context"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/pod"
	"example.com/kubernetes/internal/rule"
)

// PrepareForCreate_PodDisruptionBudget leaves the status to the controller.
func PrepareForCreate_PodDisruptionBudget(_ context.Context, in *policyv1.PodDisruptionBudget) {
	in.Status = policyv1.PodDisruptionBudgetStatus{}
}

// PrepareForUpdate_PodDisruptionBudget keeps the status.
func PrepareForUpdate_PodDisruptionBudget(_ context.Context, in, old *policyv1.PodDisruptionBudget) {
	in.Status = old.Status
}

// ValidateObject_PodDisruptionBudget returns the errors of a budget.
func ValidateObject_PodDisruptionBudget(_ context.Context, in *policyv1.PodDisruptionBudget) field.ErrorList {
	spec, path := &in.Spec, field.NewPath("spec")
	share := func(path *field.Path, share *intstr.IntOrString) rule.Errors {
		if share == nil {
			return nil
		}
		return append(rule.Share(path, *share), rule.AtMostAll(path, *share)...)
	}
	return rule.All(
		rule.When(spec.MinAvailable != nil && spec.MaxUnavailable != nil, field.Invalid(path, spec,
			"minAvailable and maxUnavailable cannot be both set")),
		share(path.Child("minAvailable"), spec.MinAvailable),
		share(path.Child("maxUnavailable"), spec.MaxUnavailable),
		pod.ValidateSelector(spec.Selector, path.Child("selector")),
		rule.OptionalOneOf(path.Child("unhealthyPodEvictionPolicy"), spec.UnhealthyPodEvictionPolicy,
			policyv1.AlwaysAllow, policyv1.IfHealthyBudget),
	)
}

// ValidateStatusUpdate_PodDisruptionBudget returns the errors of a status.
func ValidateStatusUpdate_PodDisruptionBudget(_ context.Context, in, _ *policyv1.PodDisruptionBudget) field.ErrorList {
	status, path := &in.Status, field.NewPath("status")
	return rule.All(
		rule.NotNegative(path.Child("disruptionsAllowed"), status.DisruptionsAllowed),
		rule.NotNegative(path.Child("currentHealthy"), status.CurrentHealthy),
		rule.NotNegative(path.Child("desiredHealthy"), status.DesiredHealthy),
		rule.NotNegative(path.Child("expectedPods"), status.ExpectedPods),
	)
}
