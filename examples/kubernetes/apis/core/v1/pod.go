package v1

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/defaults"
	"example.com/kubernetes/internal/pod"
)

// SetDefaults_Pod requests what the containers of a pod are limited to, and takes the ports of the host from those of
// the containers.
func SetDefaults_Pod(in *corev1.Pod) {
	for _, containers := range [][]corev1.Container{in.Spec.Containers, in.Spec.InitContainers} {
		for i := range containers {
			complete(&containers[i].Resources.Requests, containers[i].Resources.Limits)
		}
	}
	if grace := in.Spec.TerminationGracePeriodSeconds; grace != nil && *grace < 0 {
		in.Spec.TerminationGracePeriodSeconds = new(int64(1))
	}
	defaults.Pointer(&in.Spec.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
	if in.Spec.HostNetwork {
		setHostPorts(in.Spec.Containers)
		setHostPorts(in.Spec.InitContainers)
	}
}

func setHostPorts(containers []corev1.Container) {
	for i := range containers {
		for j := range containers[i].Ports {
			port := &containers[i].Ports[j]
			defaults.Value(&port.HostPort, port.ContainerPort)
		}
	}
}

// PrepareForCreate_Pod sets what only the server sets.
func PrepareForCreate_Pod(_ context.Context, in *corev1.Pod) {
	pod.DropDisabled(&in.Spec)
	pod.SetResources(in)
	in.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: pod.QualityOf(in)}
	if len(in.Spec.SchedulingGates) > 0 {
		in.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated,
			LastTransitionTime: metav1.NewTime(time.Now()),
			Message:            "Scheduling is blocked due to non-empty scheduling gates",
		}}
	}
	mergeLabelKeys(in)
}

// mergeLabelKeys makes requirements of selectors of the labels in which other pods must be like, or unlike, a new one.
func mergeLabelKeys(in *corev1.Pod) {
	merge := func(selector *metav1.LabelSelector, keys []string, operator metav1.LabelSelectorOperator) {
		for _, key := range keys {
			if value, labelled := in.Labels[key]; labelled && selector != nil {
				selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{
					Key: key, Operator: operator, Values: []string{value}})
			}
		}
	}
	for i := range in.Spec.TopologySpreadConstraints {
		c := &in.Spec.TopologySpreadConstraints[i]
		merge(c.LabelSelector, c.MatchLabelKeys, metav1.LabelSelectorOpIn)
	}
	for _, term := range pod.AffinityTerms(in.Spec.Affinity) {
		merge(term.LabelSelector, term.MatchLabelKeys, metav1.LabelSelectorOpIn)
		merge(term.LabelSelector, term.MismatchLabelKeys, metav1.LabelSelectorOpNotIn)
	}
}

// PrepareForUpdate_Pod keeps the status, and the resources of the pod, which a client may not know.
func PrepareForUpdate_Pod(_ context.Context, in, old *corev1.Pod) {
	in.Status = old.Status
	keepResources(in, old)
	pod.DropDisabled(&in.Spec)
}

// PrepareForResizeUpdate_Pod completes the resources of the pod.
func PrepareForResizeUpdate_Pod(_ context.Context, in, old *corev1.Pod) {
	keepResources(in, old)
	pod.SetResources(in)
}

func keepResources(in, old *corev1.Pod) {
	if in.Spec.Resources == nil && old.Spec.Resources != nil {
		in.Spec.Resources = old.Spec.Resources.DeepCopy()
	}
}

// PrepareForStatusUpdate_Pod keeps what a kubelet leaves out.
func PrepareForStatusUpdate_Pod(_ context.Context, in, old *corev1.Pod) {
	in.Status.VolumeHealth = nil // a feature that kube-apiserver doesn't enable by default
	defaults.Value(&in.Status.QOSClass, old.Status.QOSClass)
	defaults.Value(&in.Status.ObservedGeneration, old.Status.ObservedGeneration)
	seen := map[corev1.PodConditionType]int64{}
	for _, condition := range old.Status.Conditions {
		if _, twice := seen[condition.Type]; !twice {
			seen[condition.Type] = condition.ObservedGeneration
		}
	}
	for i := range in.Status.Conditions {
		condition := &in.Status.Conditions[i]
		defaults.Value(&condition.ObservedGeneration, seen[condition.Type])
	}
}

// ValidateObject_Pod returns the errors of a pod.
func ValidateObject_Pod(_ context.Context, in *corev1.Pod) field.ErrorList {
	errs := pod.ValidateMetaAndSpec(in)
	if in.ResourceVersion != "" {
		return errs // ValidateUpdate_Pod has the rest
	}
	path := field.NewPath("spec")
	if len(in.Spec.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(path.Child("ephemeralContainers"), "cannot be set on create"))
	}
	if in.Spec.NodeName != "" && len(in.Spec.SchedulingGates) > 0 {
		errs = append(errs, field.Forbidden(path.Child("nodeName"),
			"cannot be set until all schedulingGates have been cleared"))
	}
	return errs
}

// ValidateUpdate_Pod returns the errors of a change of a pod.
func ValidateUpdate_Pod(_ context.Context, in, old *corev1.Pod) field.ErrorList {
	return pod.ValidateUpdate(in, old)
}

// ValidateStatusUpdate_Pod returns the errors of a status.
func ValidateStatusUpdate_Pod(_ context.Context, in, old *corev1.Pod) field.ErrorList {
	return pod.ValidateStatus(in, old)
}

// ValidateEphemeralcontainersUpdate_Pod lets ephemeral containers only become more.
func ValidateEphemeralcontainersUpdate_Pod(_ context.Context, in, old *corev1.Pod) field.ErrorList {
	return pod.ValidateEphemeralUpdate(in, old)
}

// ValidateResizeUpdate_Pod returns the errors of a change of resources.
func ValidateResizeUpdate_Pod(_ context.Context, in, old *corev1.Pod) field.ErrorList {
	return pod.ValidateResize(in, old)
}

// CheckGracefulDelete_Pod gives a pod that runs on a node time to end.
func CheckGracefulDelete_Pod(_ context.Context, in *corev1.Pod, options *metav1.DeleteOptions) bool {
	var period int64
	switch {
	case in.Spec.NodeName == "", in.Status.Phase == corev1.PodFailed, in.Status.Phase == corev1.PodSucceeded:
	case options.GracePeriodSeconds != nil:
		period = *options.GracePeriodSeconds
	case in.Spec.TerminationGracePeriodSeconds != nil:
		period = *in.Spec.TerminationGracePeriodSeconds
	}
	if period < 0 {
		period = 1
	}
	options.GracePeriodSeconds = &period
	return true
}

// Warnings_Pod warns of what works, and yet surprises.
func Warnings_Pod(_ context.Context, in, old *corev1.Pod) (warnings []string) {
	if old != nil {
		return nil
	}
	if messages := validation.IsDNS1123Label(in.Name); len(messages) > 0 {
		warnings = append(warnings, "metadata.name: this is used in the Pod's hostname, which can result in "+
			"surprising behavior; a DNS label is recommended: ["+strings.Join(messages, " ")+"]")
	}
	return warnings
}

// complete adds the resources of a list that another lacks.
func complete(to *corev1.ResourceList, from corev1.ResourceList) {
	if *to == nil && from != nil {
		*to = corev1.ResourceList{}
	}
	for _, name := range slices.Collect(maps.Keys(from)) {
		if _, has := (*to)[name]; !has {
			(*to)[name] = from[name].DeepCopy()
		}
	}
}
