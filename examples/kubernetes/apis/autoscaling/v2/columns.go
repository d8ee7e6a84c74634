package v2

import (
	"fmt"
	"strconv"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"

	"example.com/kubernetes/internal/column"
)

// ReferenceColumn_HorizontalPodAutoscaler names what is scaled.
func ReferenceColumn_HorizontalPodAutoscaler(in *autoscalingv2.HorizontalPodAutoscaler) string {
	return in.Spec.ScaleTargetRef.Kind + "/" + in.Spec.ScaleTargetRef.Name
}

// MinColumn_HorizontalPodAutoscaler is the least number of pods.
func MinColumn_HorizontalPodAutoscaler(in *autoscalingv2.HorizontalPodAutoscaler) string {
	if in.Spec.MinReplicas == nil {
		return "<unset>"
	}
	return strconv.Itoa(int(*in.Spec.MinReplicas))
}

// shownMetrics is how many metrics the column of targets lists.
const shownMetrics = 2

const unknown = "<unknown>"

// TargetsColumn_HorizontalPodAutoscaler shows the metrics beside their targets.
func TargetsColumn_HorizontalPodAutoscaler(in *autoscalingv2.HorizontalPodAutoscaler) string {
	if len(in.Spec.Metrics) == 0 {
		return column.None
	}
	var out []string
	for i := range in.Spec.Metrics {
		var now autoscalingv2.MetricStatus
		if i < len(in.Status.CurrentMetrics) {
			now = in.Status.CurrentMetrics[i]
		}
		out = append(out, shown(&in.Spec.Metrics[i], &now))
	}
	return column.First(out, shownMetrics, ", ")
}

func shown(spec *autoscalingv2.MetricSpec, now *autoscalingv2.MetricStatus) string {
	none := autoscalingv2.MetricValueStatus{}
	switch spec.Type {
	case autoscalingv2.ExternalMetricSourceType:
		if now.External != nil {
			none = now.External.Current
		}
		return amount(&spec.External.Target, &none)
	case autoscalingv2.ObjectMetricSourceType:
		if now.Object != nil {
			none = now.Object.Current
		}
		return amount(&spec.Object.Target, &none)
	case autoscalingv2.PodsMetricSourceType:
		if now.Pods != nil {
			none = now.Pods.Current
		}
		return quantity(none.AverageValue) + "/" + quantity(spec.Pods.Target.AverageValue)
	case autoscalingv2.ResourceMetricSourceType:
		if now.Resource != nil {
			none = now.Resource.Current
		}
		return fmt.Sprintf("%s: %s", spec.Resource.Name, use(&spec.Resource.Target, &none))
	case autoscalingv2.ContainerResourceMetricSourceType:
		if now.ContainerResource != nil {
			none = now.ContainerResource.Current
		}
		return fmt.Sprintf("%s: %s", spec.ContainerResource.Name, use(&spec.ContainerResource.Target, &none))
	}
	return "<unknown type>"
}

func quantity(q *resource.Quantity) string {
	if q == nil {
		return unknown
	}
	return q.String()
}

func percent(n *int32, none string) string {
	if n == nil {
		return none
	}
	return strconv.Itoa(int(*n)) + "%"
}

func amount(target *autoscalingv2.MetricTarget, now *autoscalingv2.MetricValueStatus) string {
	if target.AverageValue != nil {
		return quantity(now.AverageValue) + "/" + quantity(target.AverageValue) + " (avg)"
	}
	return quantity(now.Value) + "/" + quantity(target.Value)
}

func use(target *autoscalingv2.MetricTarget, now *autoscalingv2.MetricValueStatus) string {
	if target.AverageValue != nil {
		return quantity(now.AverageValue) + "/" + quantity(target.AverageValue)
	}
	return percent(now.AverageUtilization, unknown) + "/" + percent(target.AverageUtilization, "<auto>")
}
