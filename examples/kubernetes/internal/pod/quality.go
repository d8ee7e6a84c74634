package pod

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// QualityOf returns the class of service of a pod: how sure its resources are.
func QualityOf(pod *corev1.Pod) corev1.PodQOSClass {
	requests, limits, guaranteed := corev1.ResourceList{}, corev1.ResourceList{}, true
	all := []*corev1.ResourceRequirements{pod.Spec.Resources}
	if pod.Spec.Resources == nil {
		all = nil
		for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
			all = append(all, &c.Resources)
		}
	}
	for _, r := range all {
		sum(requests, r.Requests)
		guaranteed = sum(limits, r.Limits) == len(forPods) && guaranteed
	}
	if len(requests) == 0 && len(limits) == 0 {
		return corev1.PodQOSBestEffort
	}
	for name, request := range requests {
		if limit := limits[name]; limit.Cmp(request) != 0 {
			guaranteed = false
		}
	}
	if guaranteed && len(requests) == len(limits) {
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// sum adds amounts of CPU and memory, and returns how many of the two there are.
func sum(to, amounts corev1.ResourceList) (found int) {
	for _, name := range forPods {
		amount := amounts[name]
		if amount.Sign() <= 0 {
			continue
		}
		found++
		total := to[name]
		total.Add(amount)
		to[name] = total
	}
	return found
}

// AffinityTerms returns all terms about other pods.
func AffinityTerms(affinity *corev1.Affinity) (terms []*corev1.PodAffinityTerm) {
	if affinity == nil {
		return nil
	}
	add := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range required {
			terms = append(terms, &required[i])
		}
		for i := range preferred {
			terms = append(terms, &preferred[i].PodAffinityTerm)
		}
	}
	if a := affinity.PodAffinity; a != nil {
		add(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a := affinity.PodAntiAffinity; a != nil {
		add(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return terms
}
