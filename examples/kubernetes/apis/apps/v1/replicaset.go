package v1

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/defaults"
	"example.com/kubernetes/internal/pod"
	"example.com/kubernetes/internal/rule"
)

// SetDefaults_ReplicaSet sets how many pods there are.
func SetDefaults_ReplicaSet(in *appsv1.ReplicaSet) { defaults.Pointer(&in.Spec.Replicas, 1) }

// PrepareForCreate_ReplicaSet leaves the status to the controller.
func PrepareForCreate_ReplicaSet(_ context.Context, in *appsv1.ReplicaSet) {
	in.Status = appsv1.ReplicaSetStatus{}
	pod.DropDisabled(&in.Spec.Template.Spec)
}

// PrepareForUpdate_ReplicaSet keeps the status.
func PrepareForUpdate_ReplicaSet(_ context.Context, in, old *appsv1.ReplicaSet) {
	in.Status = old.Status
	pod.DropDisabled(&in.Spec.Template.Spec)
}

// ValidateObject_ReplicaSet returns the errors of a replica set.
func ValidateObject_ReplicaSet(_ context.Context, in *appsv1.ReplicaSet) field.ErrorList {
	spec, path := &in.Spec, field.NewPath("spec")
	return rule.All(
		rule.OptionalNotNegative(path.Child("replicas"), spec.Replicas),
		rule.NotNegative(path.Child("minReadySeconds"), spec.MinReadySeconds),
		validateSelector(spec.Selector, "deployment", "invalid label selector", path.Child("selector"),
			func() rule.Errors {
				return validateTemplate(spec.Selector, &spec.Template, "ReplicaSet", path.Child("template"))
			}),
	)
}

// ValidateUpdate_ReplicaSet holds the selector.
func ValidateUpdate_ReplicaSet(_ context.Context, in, old *appsv1.ReplicaSet) field.ErrorList {
	return rule.Immutable(field.NewPath("spec", "selector"), in.Spec.Selector, old.Spec.Selector)
}

// ValidateStatusUpdate_ReplicaSet returns the errors of a status.
func ValidateStatusUpdate_ReplicaSet(_ context.Context, in, _ *appsv1.ReplicaSet) field.ErrorList {
	status, path := &in.Status, field.NewPath("status")
	return rule.All(
		rule.NotNegative(path.Child("replicas"), status.Replicas),
		rule.NotNegative(path.Child("fullyLabeledReplicas"), status.FullyLabeledReplicas),
		rule.NotNegative(path.Child("readyReplicas"), status.ReadyReplicas),
		rule.NotNegative(path.Child("availableReplicas"), status.AvailableReplicas),
		rule.NotNegative(path.Child("observedGeneration"), status.ObservedGeneration),
		rule.OptionalNotNegative(path.Child("terminatingReplicas"), status.TerminatingReplicas),
		rule.AtMost(path.Child("fullyLabeledReplicas"), status.FullyLabeledReplicas, status.Replicas,
			"status.replicas"),
		rule.AtMost(path.Child("readyReplicas"), status.ReadyReplicas, status.Replicas, "status.replicas"),
		rule.AtMost(path.Child("availableReplicas"), status.AvailableReplicas, status.Replicas, "status.replicas"),
		rule.AtMost(path.Child("availableReplicas"), status.AvailableReplicas, status.ReadyReplicas, "readyReplicas"),
	)
}
