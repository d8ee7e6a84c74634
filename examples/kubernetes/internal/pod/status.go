package pod

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/rule"
)

// systemConditions are the conditions that need no domain.
var systemConditions = []corev1.PodConditionType{
	corev1.PodScheduled, corev1.PodReady, corev1.PodInitialized, corev1.ContainersReady, corev1.DisruptionTarget,
	corev1.PodResizePending, corev1.PodResizeInProgress,
}

// ValidateStatus validates a status that a kubelet or a scheduler writes.
func ValidateStatus(pod, old *corev1.Pod) (errs rule.Errors) {
	path := field.NewPath("status")
	errs = rule.Each(pod.Status.Conditions, path.Child("conditions"),
		func(c *corev1.PodCondition, path *field.Path) rule.Errors {
			if slices.Contains(systemConditions, c.Type) {
				return nil
			}
			return rule.QualifiedName(path.Child("Type"), string(c.Type))
		})
	name, at := pod.Status.NominatedNodeName, path.Child("nominatedNodeName")
	if name != old.Status.NominatedNodeName && name != "" {
		errs = append(errs, rule.Subdomain(at, name)...)
		errs = append(errs, rule.When(old.Spec.NodeName != "", field.Forbidden(at,
			"may not be set on pods that are already bound to a node"))...)
	}
	errs = append(errs, rule.When(pod.Status.ObservedGeneration < 0, field.Invalid(path.Child("observedGeneration"),
		pod.Status.ObservedGeneration, "must be a non-negative integer"))...)
	errs = append(errs, rule.Immutable(path.Child("qosClass"), pod.Status.QOSClass, old.Status.QOSClass)...)
	errs = append(errs, validateEnded(pod, old, path)...)
	for _, list := range []struct {
		name    string
		is, was []string
	}{
		{"podIPs", podIPs(pod), podIPs(old)}, {"hostIPs", hostIPs(pod), hostIPs(old)},
	} {
		for i, ip := range list.is {
			errs = append(errs, validation.IsValidIPForLegacyField(path.Child(list.name).Index(i), ip, true,
				list.was)...)
		}
	}
	return errs
}

func podIPs(pod *corev1.Pod) (all []string) {
	for _, ip := range pod.Status.PodIPs {
		all = append(all, ip.IP)
	}
	return all
}

func hostIPs(pod *corev1.Pod) (all []string) {
	for _, ip := range pod.Status.HostIPs {
		all = append(all, ip.IP)
	}
	return all
}

// validateEnded keeps containers ended that ended for good.
func validateEnded(pod, old *corev1.Pod, path *field.Path) (errs rule.Errors) {
	if old.Spec.RestartPolicy == corev1.RestartPolicyAlways {
		return nil
	}
	at := path.Child("containerStatuses")
	for i, was := range old.Status.ContainerStatuses {
		ended := was.State.Terminated
		if ended == nil || ended.ExitCode != 0 && old.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
			continue
		}
		again := func(is corev1.ContainerStatus) bool { return is.Name == was.Name && is.State.Terminated == nil }
		errs = append(errs, rule.When(slices.ContainsFunc(pod.Status.ContainerStatuses, again),
			field.Forbidden(at.Index(i).Child("state"), "may not be transitioned to non-terminated state"))...)
	}
	return errs
}
