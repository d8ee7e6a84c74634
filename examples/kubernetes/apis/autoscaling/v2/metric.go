package v2

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/pod"
	"example.com/kubernetes/internal/rule"
)

// metric is a sort of metric: its type, its member in a specification, and how that is checked.
type metric struct {
	of    autoscalingv2.MetricSourceType
	name  string
	set   bool
	check func(path *field.Path) rule.Errors
}

// sorts are in the order in which kube-apiserver looks at them.
func sorts(m *autoscalingv2.MetricSpec) []metric {
	return []metric{
		{autoscalingv2.ObjectMetricSourceType, "object", m.Object != nil, func(path *field.Path) rule.Errors {
			return rule.All(validateReference(&m.Object.DescribedObject, path.Child("describedObject")),
				validateIdentifier(&m.Object.Metric, path.Child("metric")),
				validateTarget(&m.Object.Target, path.Child("target")),
				rule.When(m.Object.Target.Value == nil && m.Object.Target.AverageValue == nil, field.Required(
					path.Child("target", "averageValue"), "must set either a target value or averageValue")))
		}},
		{autoscalingv2.ExternalMetricSourceType, "external", m.External != nil, func(path *field.Path) rule.Errors {
			target, at := &m.External.Target, path.Child("target")
			return rule.All(validateIdentifier(&m.External.Metric, path.Child("metric")), validateTarget(target, at),
				rule.When(target.Value == nil && target.AverageValue == nil, field.Required(at.Child("averageValue"),
					"must set either a target value for metric or a per-pod target")),
				rule.When(target.Value != nil && target.AverageValue != nil, field.Forbidden(at.Child("value"),
					"may not set both a target value for metric and a per-pod target")))
		}},
		{autoscalingv2.PodsMetricSourceType, "pods", m.Pods != nil, func(path *field.Path) rule.Errors {
			return rule.All(validateIdentifier(&m.Pods.Metric, path.Child("metric")),
				validateTarget(&m.Pods.Target, path.Child("target")),
				rule.When(m.Pods.Target.AverageValue == nil, field.Required(path.Child("target", "averageValue"),
					"must specify a positive target averageValue")))
		}},
		{autoscalingv2.ResourceMetricSourceType, "resource", m.Resource != nil, func(path *field.Path) rule.Errors {
			return rule.All(rule.When(m.Resource.Name == "", field.Required(path.Child("name"),
				"must specify a resource name")), validateUse(&m.Resource.Target, path.Child("target")))
		}},
		{autoscalingv2.ContainerResourceMetricSourceType, "containerResource", m.ContainerResource != nil,
			func(path *field.Path) rule.Errors { return validateContainerMetric(m.ContainerResource, path) }},
	}
}

func validateContainerMetric(m *autoscalingv2.ContainerResourceMetricSource, path *field.Path) (errs rule.Errors) {
	if m.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), "must specify a resource name"))
	} else {
		errs = append(errs, pod.ValidateContainerResourceName(path.Child("name"), m.Name)...)
	}
	if m.Container == "" {
		errs = append(errs, field.Required(path.Child("container"), "must specify a container"))
	} else {
		errs = append(errs, rule.Label(path.Child("container"), m.Container)...)
	}
	return append(errs, validateUse(&m.Target, path.Child("target"))...)
}

func validateMetric(m *autoscalingv2.MetricSpec, path *field.Path) (errs rule.Errors) {
	at := path.Child("type")
	all := sorts(m)
	supported := []autoscalingv2.MetricSourceType{
		autoscalingv2.ContainerResourceMetricSourceType, autoscalingv2.ExternalMetricSourceType,
		autoscalingv2.ObjectMetricSourceType, autoscalingv2.PodsMetricSourceType,
		autoscalingv2.ResourceMetricSourceType,
	}
	if m.Type == "" {
		errs = append(errs, field.Required(at, "must specify a metric source type"))
	}
	errs = append(errs, rule.OneOf(at, m.Type, supported...)...)
	count := 0
	for _, sort := range all {
		if !sort.set {
			continue
		}
		if count++; count == 1 {
			errs = append(errs, sort.check(path.Child(sort.name))...)
		}
	}
	for _, sort := range all {
		if sort.of == m.Type {
			errs = append(errs, rule.When(!sort.set, field.Required(path.Child(sort.name),
				"must populate information for the given metric source"))...)
		} else if count > 1 {
			errs = append(errs, rule.When(sort.set, field.Forbidden(path.Child(sort.name),
				"must populate the given metric source only"))...)
		}
	}
	return errs
}

func validateIdentifier(id *autoscalingv2.MetricIdentifier, path *field.Path) rule.Errors {
	return segment(path.Child("name"), id.Name, "must specify a metric name")
}

// validateUse validates a target for the use of a resource.
func validateUse(target *autoscalingv2.MetricTarget, path *field.Path) rule.Errors {
	use, value := target.AverageUtilization != nil, target.AverageValue != nil
	return rule.All(validateTarget(target, path),
		rule.When(!use && !value, field.Required(path.Child("averageUtilization"),
			"must set either a target raw value or a target utilization")),
		rule.When(use && value, field.Forbidden(path.Child("averageValue"),
			"may not set both a target raw value and a target utilization")))
}

func validateTarget(target *autoscalingv2.MetricTarget, path *field.Path) rule.Errors {
	at := path.Child("type")
	known := target.Type == autoscalingv2.UtilizationMetricType || target.Type == autoscalingv2.ValueMetricType ||
		target.Type == autoscalingv2.AverageValueMetricType
	positive := func(name string, q *resource.Quantity) rule.Errors {
		return rule.When(q != nil && q.Sign() != 1, field.Invalid(path.Child(name), q, "must be positive"))
	}
	use := target.AverageUtilization
	return rule.All(
		rule.When(target.Type == "", field.Required(at, "must specify a metric target type")),
		rule.When(!known, field.Invalid(at, target.Type, "must be either Utilization, Value, or AverageValue")),
		positive("value", target.Value), positive("averageValue", target.AverageValue),
		rule.When(use != nil && *use < 1, field.Invalid(path.Child("averageUtilization"), use,
			"must be greater than 0")),
	)
}
