package v1

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// SetDefaults_PodSpec sets the defaults of pods and of templates of pods.
func SetDefaults_PodSpec(spec *corev1.PodSpec) {
	if spec.RestartPolicy == "" {
		spec.RestartPolicy = corev1.RestartPolicyAlways
	}
	if spec.DNSPolicy == "" {
		spec.DNSPolicy = corev1.DNSClusterFirst
	}
	if spec.TerminationGracePeriodSeconds == nil {
		spec.TerminationGracePeriodSeconds = new(int64(corev1.DefaultTerminationGracePeriodSeconds))
	}
	if spec.SchedulerName == "" {
		spec.SchedulerName = corev1.DefaultSchedulerName
	}
	if spec.SecurityContext == nil {
		spec.SecurityContext = &corev1.PodSecurityContext{} // kubectl debug looks into it
	}
}

// PrepareForCreate_Pod sets the status of a new pod.
func PrepareForCreate_Pod(_ context.Context, pod *corev1.Pod) {
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending}
}

// ValidateUpdate_Pod rejects an update that changes what pods/ephemeralcontainers and pods/resize change.
func ValidateUpdate_Pod(_ context.Context, pod, old *corev1.Pod) (errs field.ErrorList) {
	spec := field.NewPath("spec")
	if !equality.Semantic.DeepEqual(pod.Spec.EphemeralContainers, old.Spec.EphemeralContainers) {
		errs = append(errs, field.Forbidden(spec.Child("ephemeralContainers"),
			"write them by pods/ephemeralcontainers"))
	}
	if !equality.Semantic.DeepEqual(resourcesOf(pod), resourcesOf(old)) {
		errs = append(errs, field.Forbidden(spec.Child("containers"), "write their resources by pods/resize"))
	}
	return errs
}

func resourcesOf(pod *corev1.Pod) map[string]corev1.ResourceRequirements {
	all := map[string]corev1.ResourceRequirements{}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		all[c.Name] = c.Resources
	}
	return all
}

// ValidateEphemeralcontainersUpdate_Pod rejects a change of the ephemeral containers that a pod has: they only become
// more.
func ValidateEphemeralcontainersUpdate_Pod(_ context.Context, pod, old *corev1.Pod) (errs field.ErrorList) {
	path := field.NewPath("spec", "ephemeralContainers")
	for _, had := range old.Spec.EphemeralContainers {
		same := func(c corev1.EphemeralContainer) bool { return equality.Semantic.DeepEqual(c, had) }
		if !slices.ContainsFunc(pod.Spec.EphemeralContainers, same) {
			errs = append(errs, field.Forbidden(path, "existing ephemeral containers may not be changed or removed"))
		}
	}
	return errs
}
