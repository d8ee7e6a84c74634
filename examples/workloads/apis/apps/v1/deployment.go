package v1

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// SetDefaults_Deployment sets the defaults of a deployment.
func SetDefaults_Deployment(deployment *appsv1.Deployment) {
	spec := &deployment.Spec
	setDefault(&spec.Replicas, 1)
	setDefault(&spec.RevisionHistoryLimit, 10)
	setDefault(&spec.ProgressDeadlineSeconds, 600)
	if spec.Strategy.Type == "" {
		spec.Strategy.Type = appsv1.RollingUpdateDeploymentStrategyType
	}
	if spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType {
		return
	}
	if spec.Strategy.RollingUpdate == nil {
		spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{}
	}
	setDefault(&spec.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
	setDefault(&spec.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
}

// SetDefaults_ReplicaSet sets the defaults of a replica set.
func SetDefaults_ReplicaSet(set *appsv1.ReplicaSet) { setDefault(&set.Spec.Replicas, 1) }

func setDefault[T any](to **T, value T) {
	if *to == nil {
		*to = &value
	}
}

// ValidateObject_Deployment checks rules that the types' markers don't express.
func ValidateObject_Deployment(_ context.Context, deployment *appsv1.Deployment) field.ErrorList {
	spec := field.NewPath("spec")
	errs := validateSelector(deployment.Spec.Selector, deployment.Spec.Template.Labels, spec)
	if replicas := deployment.Spec.Replicas; replicas != nil && *replicas < 0 {
		errs = append(errs, field.Invalid(spec.Child("replicas"), *replicas, "must be greater than or equal to 0"))
	}
	return errs
}

// ValidateUpdate_Deployment rejects a change of the selector: pods that it no longer matched would have no owner.
func ValidateUpdate_Deployment(_ context.Context, deployment, old *appsv1.Deployment) field.ErrorList {
	if metav1.FormatLabelSelector(deployment.Spec.Selector) == metav1.FormatLabelSelector(old.Spec.Selector) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec", "selector"), deployment.Spec.Selector,
		"field is immutable")}
}

func validateSelector(selector *metav1.LabelSelector, template map[string]string, spec *field.Path) field.ErrorList {
	if selector == nil {
		return field.ErrorList{field.Required(spec.Child("selector"), "")}
	}
	matches, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return field.ErrorList{field.Invalid(spec.Child("selector"), selector, err.Error())}
	}
	if matches.Empty() {
		return field.ErrorList{field.Invalid(spec.Child("selector"), selector, "empty selector is invalid")}
	}
	if !matches.Matches(labels.Set(template)) {
		return field.ErrorList{field.Invalid(spec.Child("template", "metadata", "labels"), template,
			"`selector` does not match template `labels`")}
	}
	return nil
}
