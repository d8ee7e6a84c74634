package v2

import (
	"fmt"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

// SetDefaults_HorizontalPodAutoscaler sets the least number of pods, and 80 % of the requested CPU as the target.
func SetDefaults_HorizontalPodAutoscaler(in *autoscalingv2.HorizontalPodAutoscaler) {
	if in.Spec.MinReplicas == nil {
		in.Spec.MinReplicas = new(int32(1))
	}
	if len(in.Spec.Metrics) == 0 {
		in.Spec.Metrics = []autoscalingv2.MetricSpec{CPU(80)}
	}
}

// CPU is the metric that keeps the use of CPU at a percentage of what the pods request.
func CPU(percent int32) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{
			Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &percent}}}
}

// ReferenceColumn_HorizontalPodAutoscaler names what is scaled.
func ReferenceColumn_HorizontalPodAutoscaler(in *autoscalingv2.HorizontalPodAutoscaler) string {
	return in.Spec.ScaleTargetRef.Kind + "/" + in.Spec.ScaleTargetRef.Name
}

// TargetsColumn_HorizontalPodAutoscaler shows the metrics of resources beside their targets.
func TargetsColumn_HorizontalPodAutoscaler(in *autoscalingv2.HorizontalPodAutoscaler) string {
	var out []string
	for i, metric := range in.Spec.Metrics {
		if metric.Resource == nil || metric.Resource.Target.AverageUtilization == nil {
			out = append(out, strings.ToLower(string(metric.Type)))
			continue
		}
		now := "<unknown>"
		if i < len(in.Status.CurrentMetrics) && in.Status.CurrentMetrics[i].Resource != nil {
			if use := in.Status.CurrentMetrics[i].Resource.Current.AverageUtilization; use != nil {
				now = fmt.Sprintf("%d%%", *use)
			}
		}
		out = append(out, fmt.Sprintf("%s: %s/%d%%", metric.Resource.Name, now, *metric.Resource.Target.AverageUtilization))
	}
	return strings.Join(out, ", ")
}
