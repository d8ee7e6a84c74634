package v1

import (
	"encoding/json"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/conversion"

	v2 "example.com/kubernetes/apis/autoscaling/v2"
)

// kept are the annotations in which objects of v1 carry what only v2 has.
const (
	metricsKept    = "autoscaling.alpha.kubernetes.io/metrics"
	behaviorKept   = "autoscaling.alpha.kubernetes.io/behavior"
	currentKept    = "autoscaling.alpha.kubernetes.io/current-metrics"
	conditionsKept = "autoscaling.alpha.kubernetes.io/conditions"
)

// SetDefaults_HorizontalPodAutoscaler sets the least number of pods.
func SetDefaults_HorizontalPodAutoscaler(in *autoscalingv1.HorizontalPodAutoscaler) {
	if in.Spec.MinReplicas == nil {
		in.Spec.MinReplicas = new(int32(1))
	}
}

// Convert_v1_HorizontalPodAutoscaler_To_v2_HorizontalPodAutoscaler makes the percentage a metric, and takes the others
// out of the annotations.
func Convert_v1_HorizontalPodAutoscaler_To_v2_HorizontalPodAutoscaler(in *autoscalingv1.HorizontalPodAutoscaler,
	out *autoscalingv2.HorizontalPodAutoscaler, _ conversion.Scope) error {
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	spec, status := in.Spec.DeepCopy(), in.Status.DeepCopy()
	out.Spec = autoscalingv2.HorizontalPodAutoscalerSpec{MinReplicas: spec.MinReplicas, MaxReplicas: spec.MaxReplicas,
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference(spec.ScaleTargetRef)}
	out.Status = autoscalingv2.HorizontalPodAutoscalerStatus{ObservedGeneration: status.ObservedGeneration,
		LastScaleTime: status.LastScaleTime, CurrentReplicas: status.CurrentReplicas,
		DesiredReplicas: status.DesiredReplicas}
	take(out, metricsKept, &out.Spec.Metrics)
	take(out, behaviorKept, &out.Spec.Behavior)
	take(out, currentKept, &out.Status.CurrentMetrics)
	take(out, conditionsKept, &out.Status.Conditions)
	if percent := spec.TargetCPUUtilizationPercentage; percent != nil {
		out.Spec.Metrics = append(out.Spec.Metrics, v2.CPU(*percent))
	}
	if percent := status.CurrentCPUUtilizationPercentage; percent != nil {
		out.Status.CurrentMetrics = append(out.Status.CurrentMetrics, autoscalingv2.MetricStatus{
			Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricStatus{
				Name: corev1.ResourceCPU, Current: autoscalingv2.MetricValueStatus{AverageUtilization: percent}}})
	}
	return nil
}

// Convert_v2_HorizontalPodAutoscaler_To_v1_HorizontalPodAutoscaler makes the last metric of CPU a percentage, and puts
// what v1 has no field for into annotations.
func Convert_v2_HorizontalPodAutoscaler_To_v1_HorizontalPodAutoscaler(in *autoscalingv2.HorizontalPodAutoscaler,
	out *autoscalingv1.HorizontalPodAutoscaler, _ conversion.Scope) error {
	in = in.DeepCopy()
	out.ObjectMeta = in.ObjectMeta
	out.Spec = autoscalingv1.HorizontalPodAutoscalerSpec{MinReplicas: in.Spec.MinReplicas,
		MaxReplicas:    in.Spec.MaxReplicas,
		ScaleTargetRef: autoscalingv1.CrossVersionObjectReference(in.Spec.ScaleTargetRef)}
	out.Status = autoscalingv1.HorizontalPodAutoscalerStatus{ObservedGeneration: in.Status.ObservedGeneration,
		LastScaleTime: in.Status.LastScaleTime, CurrentReplicas: in.Status.CurrentReplicas,
		DesiredReplicas: in.Status.DesiredReplicas}
	metrics, current := in.Spec.Metrics, in.Status.CurrentMetrics
	if n := len(metrics) - 1; n >= 0 && isCPU(metrics[n]) {
		out.Spec.TargetCPUUtilizationPercentage, metrics = metrics[n].Resource.Target.AverageUtilization, metrics[:n]
	}
	if n := len(current) - 1; n >= 0 && current[n].Resource != nil && current[n].Resource.Name == corev1.ResourceCPU &&
		current[n].Resource.Current.AverageValue == nil {
		out.Status.CurrentCPUUtilizationPercentage = current[n].Resource.Current.AverageUtilization
		current = current[:n]
	}
	keep(out, metricsKept, metrics, len(metrics) > 0)
	keep(out, behaviorKept, in.Spec.Behavior, in.Spec.Behavior != nil)
	keep(out, currentKept, current, len(current) > 0)
	keep(out, conditionsKept, in.Status.Conditions, len(in.Status.Conditions) > 0)
	return nil
}

func isCPU(m autoscalingv2.MetricSpec) bool {
	return m.Resource != nil && m.Resource.Name == corev1.ResourceCPU && m.Resource.Target.AverageUtilization != nil
}

func keep(out *autoscalingv1.HorizontalPodAutoscaler, key string, value any, is bool) {
	data, err := json.Marshal(value)
	if !is || err != nil {
		return
	}
	if out.Annotations == nil {
		out.Annotations = map[string]string{}
	}
	out.Annotations[key] = string(data)
}

func take(out *autoscalingv2.HorizontalPodAutoscaler, key string, into any) {
	if text, ok := out.Annotations[key]; ok && json.Unmarshal([]byte(text), into) == nil {
		delete(out.Annotations, key)
	}
}
