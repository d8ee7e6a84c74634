package pod

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resources "k8s.io/component-helpers/resource"
)

// SetResources completes the resources that a pod has for all of its containers, from those of its containers. It
// comes behind admission, which may add containers.
func SetResources(pod *corev1.Pod) {
	r := pod.Spec.Resources
	if r == nil || len(r.Limits) == 0 && len(r.Requests) == 0 {
		return
	}
	of := &corev1.Pod{Spec: corev1.PodSpec{Containers: pod.Spec.Containers, InitContainers: pod.Spec.InitContainers}}
	limits := resources.AggregateContainerLimits(of, resources.PodResourcesOptions{})
	for name, limit := range limits {
		if _, requested := r.Requests[name]; !requested && isHuge(name) {
			setMissing(&r.Limits, name, limit)
		}
	}
	for name, request := range resources.AggregateContainerRequests(of, resources.PodResourcesOptions{}) {
		if resources.IsSupportedPodLevelResource(name) && mayOvercommit(name) {
			setMissing(&r.Requests, name, request)
		}
	}
	for name, limit := range r.Limits {
		if resources.IsSupportedPodLevelResource(name) {
			setMissing(&r.Requests, name, limit)
		}
	}
	for name, request := range r.Requests {
		if !resources.IsSupportedPodLevelResource(name) || !allLimit(&pod.Spec, name) {
			continue
		}
		limit := limits[name]
		if request.Cmp(limit) > 0 {
			limit = request
		}
		setMissing(&r.Limits, name, limit)
	}
}

// setMissing sets the amount of a resource that a list lacks.
func setMissing(to *corev1.ResourceList, name corev1.ResourceName, amount resource.Quantity) {
	if _, found := (*to)[name]; found {
		return
	}
	if *to == nil {
		*to = corev1.ResourceList{}
	}
	(*to)[name] = amount.DeepCopy()
}

// allLimit reports whether all containers of a pod limit a resource.
func allLimit(spec *corev1.PodSpec, name corev1.ResourceName) bool {
	if len(spec.EphemeralContainers) > 0 {
		return false // they can't limit any
	}
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			if _, limited := containers[i].Resources.Limits[name]; !limited {
				return false
			}
		}
	}
	return true
}
