package v2

import (
	"context"
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/defaults"
	"example.com/kubernetes/internal/rule"
)

// SetDefaults_HorizontalPodAutoscaler sets the least number of pods, 80 % of the requested CPU as the target, and how
// fast the number changes.
func SetDefaults_HorizontalPodAutoscaler(in *autoscalingv2.HorizontalPodAutoscaler) {
	defaults.Pointer(&in.Spec.MinReplicas, 1)
	if len(in.Spec.Metrics) == 0 {
		in.Spec.Metrics = []autoscalingv2.MetricSpec{CPU(80)}
	}
	if behavior := in.Spec.Behavior; behavior != nil {
		behavior.ScaleUp = withDefaults(behavior.ScaleUp, fastUp())
		behavior.ScaleDown = withDefaults(behavior.ScaleDown, fastDown())
	}
}

// CPU is the metric that keeps the use of CPU at a percentage of what the pods request.
func CPU(percent int32) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{
			Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &percent}}}
}

// fastUp lets pods become twice as many, or four more, in 15 seconds.
func fastUp() autoscalingv2.HPAScalingRules {
	return autoscalingv2.HPAScalingRules{
		StabilizationWindowSeconds: new(int32), SelectPolicy: new(autoscalingv2.MaxChangePolicySelect),
		Policies: []autoscalingv2.HPAScalingPolicy{
			{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: 15},
			{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15},
		},
	}
}

// fastDown lets all pods go in 15 seconds.
func fastDown() autoscalingv2.HPAScalingRules {
	return autoscalingv2.HPAScalingRules{
		SelectPolicy: new(autoscalingv2.MaxChangePolicySelect),
		Policies: []autoscalingv2.HPAScalingPolicy{
			{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15},
		},
	}
}

func withDefaults(
	rules *autoscalingv2.HPAScalingRules, all autoscalingv2.HPAScalingRules,
) *autoscalingv2.HPAScalingRules {
	if rules == nil {
		return &all
	}
	if rules.SelectPolicy == nil {
		rules.SelectPolicy = all.SelectPolicy
	}
	if rules.StabilizationWindowSeconds == nil {
		rules.StabilizationWindowSeconds = all.StabilizationWindowSeconds
	}
	if rules.Policies == nil {
		rules.Policies = all.Policies
	}
	return rules
}

// PrepareForCreate_HorizontalPodAutoscaler leaves the status to the controller.
func PrepareForCreate_HorizontalPodAutoscaler(_ context.Context, in *autoscalingv2.HorizontalPodAutoscaler) {
	in.Status = autoscalingv2.HorizontalPodAutoscalerStatus{}
}

// PrepareForUpdate_HorizontalPodAutoscaler keeps the status.
func PrepareForUpdate_HorizontalPodAutoscaler(_ context.Context, in, old *autoscalingv2.HorizontalPodAutoscaler) {
	in.Status = old.Status
}

// ValidateObject_HorizontalPodAutoscaler returns the errors of an autoscaler.
func ValidateObject_HorizontalPodAutoscaler(
	_ context.Context, in *autoscalingv2.HorizontalPodAutoscaler,
) field.ErrorList {
	spec, path := &in.Spec, field.NewPath("spec")
	least, most := spec.MinReplicas, path.Child("maxReplicas")
	errs := rule.When(least != nil && *least < 0, field.Invalid(path.Child("minReplicas"), least,
		"must be greater than or equal to 0"))
	errs = append(errs, rule.When(least != nil && spec.MaxReplicas < *least, field.Invalid(most, spec.MaxReplicas,
		"must be greater than or equal to `minReplicas`"))...)
	errs = append(errs, validateReference(&spec.ScaleTargetRef, path.Child("scaleTargetRef"))...)
	errs = append(errs, rule.Each(spec.Metrics, path.Child("metrics"), validateMetric)...)
	outside := func(m autoscalingv2.MetricSpec) bool {
		return m.Type == autoscalingv2.ObjectMetricSourceType || m.Type == autoscalingv2.ExternalMetricSourceType
	}
	errs = append(errs, rule.When(least != nil && *least == 0 && !slices.ContainsFunc(spec.Metrics, outside),
		field.Forbidden(path.Child("metrics"),
			"must specify at least one Object or External metric to support scaling to zero replicas"))...)
	if spec.Behavior == nil {
		return errs
	}
	at := path.Child("behavior")
	return append(errs, append(validateScaling(spec.Behavior.ScaleUp, at.Child("scaleUp")),
		validateScaling(spec.Behavior.ScaleDown, at.Child("scaleDown"))...)...)
}

func segment(path *field.Path, value, missing string) rule.Errors {
	if value == "" {
		return rule.Errors{field.Required(path, missing)}
	}
	return rule.Texts(path, value, content.IsPathSegmentName(value))
}

func validateReference(ref *autoscalingv2.CrossVersionObjectReference, path *field.Path) rule.Errors {
	errs := append(segment(path.Child("kind"), ref.Kind, ""), segment(path.Child("name"), ref.Name, "")...)
	if _, err := schema.ParseGroupVersion(ref.APIVersion); err != nil {
		errs = append(errs, field.Invalid(path.Child("apiVersion"), ref.APIVersion, err.Error()))
	}
	return errs
}

// Bounds of the times that rules of scaling name, in seconds.
const (
	longestWindow = 3600
	longestPeriod = 1800
)

func validateScaling(rules *autoscalingv2.HPAScalingRules, path *field.Path) (errs rule.Errors) {
	if rules == nil {
		return nil
	}
	if window, at := rules.StabilizationWindowSeconds, path.Child("stabilizationWindowSeconds"); window != nil {
		errs = append(errs, rule.When(*window < 0, field.Invalid(at, window,
			"must be greater than or equal to zero"))...)
		errs = append(errs, rule.When(*window > longestWindow, field.Invalid(at, window,
			fmt.Sprintf("must be less than or equal to %v", longestWindow)))...)
	}
	errs = append(errs, rule.OptionalOneOf(path.Child("selectPolicy"), rules.SelectPolicy,
		autoscalingv2.DisabledPolicySelect, autoscalingv2.MaxChangePolicySelect,
		autoscalingv2.MinChangePolicySelect)...)
	policies := path.Child("policies")
	errs = append(errs, rule.When(len(rules.Policies) == 0, field.Required(policies,
		"must specify at least one Policy"))...)
	errs = append(errs, rule.Each(rules.Policies, policies, validatePolicy)...)
	if rules.Tolerance == nil {
		return errs
	}
	return append(errs, rule.NotNegativeQuantity(path.Child("tolerance"), *rules.Tolerance)...)
}

func validatePolicy(p *autoscalingv2.HPAScalingPolicy, path *field.Path) rule.Errors {
	period := path.Child("periodSeconds")
	return rule.All(
		rule.OneOf(path.Child("type"), p.Type, autoscalingv2.PercentScalingPolicy, autoscalingv2.PodsScalingPolicy),
		rule.When(p.Value <= 0, field.Invalid(path.Child("value"), p.Value, "must be greater than zero")),
		rule.When(p.PeriodSeconds <= 0, field.Invalid(period, p.PeriodSeconds, "must be greater than zero")),
		rule.When(p.PeriodSeconds > longestPeriod, field.Invalid(period, p.PeriodSeconds,
			fmt.Sprintf("must be less than or equal to %v", longestPeriod))),
	)
}

// ValidateStatusUpdate_HorizontalPodAutoscaler returns the errors of a status.
func ValidateStatusUpdate_HorizontalPodAutoscaler(
	_ context.Context, in, _ *autoscalingv2.HorizontalPodAutoscaler,
) field.ErrorList {
	path := field.NewPath("status")
	return append(rule.NotNegative(path.Child("currentReplicas"), in.Status.CurrentReplicas),
		rule.NotNegative(path.Child("desiredReplicas"), in.Status.DesiredReplicas)...)
}
