package v1

import (
	"context"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/defaults"
	"example.com/kubernetes/internal/pod"
	"example.com/kubernetes/internal/rule"
)

// SetDefaults_Deployment sets how many pods there are, and how they are replaced.
func SetDefaults_Deployment(in *appsv1.Deployment) {
	defaults.Pointer(&in.Spec.Replicas, 1)
	defaults.Pointer(&in.Spec.RevisionHistoryLimit, 10)
	defaults.Pointer(&in.Spec.ProgressDeadlineSeconds, 600)
	defaults.Value(&in.Spec.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if in.Spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		defaults.Pointer(&in.Spec.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
		defaults.Pointer(&in.Spec.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		defaults.Pointer(&in.Spec.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
}

// PrepareForCreate_Deployment leaves the status to the controller.
func PrepareForCreate_Deployment(_ context.Context, in *appsv1.Deployment) {
	in.Status = appsv1.DeploymentStatus{}
	pod.DropDisabled(&in.Spec.Template.Spec)
}

// PrepareForUpdate_Deployment keeps the status.
func PrepareForUpdate_Deployment(_ context.Context, in, old *appsv1.Deployment) {
	in.Status = old.Status
	pod.DropDisabled(&in.Spec.Template.Spec)
	if !maps.Equal(in.Annotations, old.Annotations) {
		in.Generation = old.Generation + 1 // the server counts changes of the specification
	}
}

// ValidateObject_Deployment returns the errors of a deployment.
func ValidateObject_Deployment(_ context.Context, in *appsv1.Deployment) field.ErrorList {
	spec, path := &in.Spec, field.NewPath("spec")
	errs := rule.All(
		rule.OptionalNotNegative(path.Child("replicas"), spec.Replicas),
		validateSelector(spec.Selector, "deployment", "invalid label selector", path.Child("selector"),
			func() rule.Errors {
				return validateTemplate(spec.Selector, &spec.Template, "ReplicaSet", path.Child("template"))
			}),
		validateDeploymentStrategy(&spec.Strategy, path.Child("strategy")),
		rule.NotNegative(path.Child("minReadySeconds"), spec.MinReadySeconds),
		rule.OptionalNotNegative(path.Child("revisionHistoryLimit"), spec.RevisionHistoryLimit),
	)
	if deadline, at := spec.ProgressDeadlineSeconds, path.Child("progressDeadlineSeconds"); deadline != nil {
		errs = append(errs, rule.NotNegative(at, *deadline)...)
		errs = append(errs, rule.When(*deadline <= spec.MinReadySeconds, field.Invalid(at, deadline,
			"must be greater than minReadySeconds"))...)
	}
	return errs
}

func validateDeploymentStrategy(strategy *appsv1.DeploymentStrategy, path *field.Path) rule.Errors {
	rolling := path.Child("rollingUpdate")
	switch strategy.Type {
	case appsv1.RecreateDeploymentStrategyType:
		return rule.When(strategy.RollingUpdate != nil, field.Forbidden(rolling,
			"may not be specified when strategy `type` is 'Recreate'"))
	case appsv1.RollingUpdateDeploymentStrategyType:
		unavailable, surge := *strategy.RollingUpdate.MaxUnavailable, *strategy.RollingUpdate.MaxSurge
		at := rolling.Child("maxUnavailable")
		return rule.All(
			rule.Share(at, unavailable),
			rule.Share(rolling.Child("maxSurge"), surge),
			rule.When(rule.Amount(unavailable) == 0 && rule.Amount(surge) == 0,
				field.Invalid(at, unavailable, "may not be 0 when `maxSurge` is 0")),
			rule.AtMostAll(at, unavailable),
		)
	}
	return rule.Errors{field.NotSupported(path, strategy, []appsv1.DeploymentStrategyType{
		appsv1.RecreateDeploymentStrategyType, appsv1.RollingUpdateDeploymentStrategyType})}
}

// ValidateUpdate_Deployment holds the selector: pods that it no longer matched would have no owner.
func ValidateUpdate_Deployment(_ context.Context, in, old *appsv1.Deployment) field.ErrorList {
	return rule.Immutable(field.NewPath("spec", "selector"), in.Spec.Selector, old.Spec.Selector)
}

// ValidateStatusUpdate_Deployment returns the errors of a status.
func ValidateStatusUpdate_Deployment(_ context.Context, in, old *appsv1.Deployment) field.ErrorList {
	status, path := &in.Status, field.NewPath("status")
	return rule.All(
		rule.NotNegative(path.Child("observedGeneration"), status.ObservedGeneration),
		rule.NotNegative(path.Child("replicas"), status.Replicas),
		rule.NotNegative(path.Child("updatedReplicas"), status.UpdatedReplicas),
		rule.NotNegative(path.Child("readyReplicas"), status.ReadyReplicas),
		rule.NotNegative(path.Child("availableReplicas"), status.AvailableReplicas),
		rule.NotNegative(path.Child("unavailableReplicas"), status.UnavailableReplicas),
		rule.OptionalNotNegative(path.Child("terminatingReplicas"), status.TerminatingReplicas),
		rule.OptionalNotNegative(path.Child("collisionCount"), status.CollisionCount),
		rule.AtMost(path.Child("updatedReplicas"), status.UpdatedReplicas, status.Replicas, "status.replicas"),
		rule.AtMost(path.Child("readyReplicas"), status.ReadyReplicas, status.Replicas, "status.replicas"),
		rule.AtMost(path.Child("availableReplicas"), status.AvailableReplicas, status.Replicas, "status.replicas"),
		rule.AtMost(path.Child("availableReplicas"), status.AvailableReplicas, status.ReadyReplicas, "readyReplicas"),
		notDecremented(path.Child("collisionCount"), status.CollisionCount, old.Status.CollisionCount),
	)
}
