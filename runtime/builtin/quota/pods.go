package quota

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"apigen.dev/runtime/admission"
	core "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	podresource "k8s.io/component-helpers/resource"
)

// pods are measured by their number and by what their containers request, while they run.
type pods struct{ counted }

func (pods) handles(a *admission.Attributes) bool {
	switch {
	case a.Subresource == "resize":
		return a.Operation == admission.Update
	case a.Subresource != "":
		return false
	case a.Operation == admission.Update:
		old, isOld := a.Old.Value().(*core.Pod)
		pod, isPod := a.Object.Value().(*core.Pod)
		return isOld && isPod && hasDeadline(old) != hasDeadline(pod) // the scope changed
	}
	return a.Operation == admission.Create
}

// computed are what quotas can count of pods beside extended resources and huge pages.
var computed = []core.ResourceName{
	core.ResourcePods, core.ResourceCPU, core.ResourceMemory, core.ResourceEphemeralStorage,
	core.ResourceRequestsCPU, core.ResourceRequestsMemory, core.ResourceRequestsEphemeralStorage,
	core.ResourceLimitsCPU, core.ResourceLimitsMemory, core.ResourceLimitsEphemeralStorage,
}

func (p pods) tracks(name core.ResourceName) bool {
	text := string(name)
	request, requested := strings.CutPrefix(text, core.DefaultResourceRequestsPrefix)
	return slices.Contains(computed, name) || p.counted.tracks(name) ||
		strings.HasPrefix(text, core.ResourceHugePagesPrefix) ||
		requested && (strings.HasPrefix(request, core.ResourceHugePagesPrefix) || isExtended(request))
}

// isExtended reports whether a resource of containers is none of Kubernetes' own.
func isExtended(name string) bool {
	return strings.Contains(name, "/") && (!strings.Contains(name, core.ResourceDefaultNamespacePrefix) ||
		strings.HasPrefix(name, "deviceclass.resource.kubernetes.io/"))
}

func (p pods) usage(obj any) core.ResourceList {
	pod := obj.(*core.Pod)
	used := p.counted.usage(obj)
	if !runs(pod) {
		return used
	}
	options := podresource.PodResourcesOptions{UseStatusResources: true}
	add(used, usageOf(podresource.PodRequests(pod, options), podresource.PodLimits(pod, options)))
	return used
}

// runs reports whether a pod uses compute resources: it has not ended, and its node could still shut it down in time.
func runs(pod *core.Pod) bool {
	if pod.Status.Phase == core.PodFailed || pod.Status.Phase == core.PodSucceeded {
		return false
	}
	if pod.DeletionTimestamp == nil || pod.DeletionGracePeriodSeconds == nil {
		return true
	}
	grace := time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
	return !time.Now().After(pod.DeletionTimestamp.Add(grace))
}

func usageOf(requests, limits core.ResourceList) core.ResourceList {
	used := core.ResourceList{core.ResourcePods: one}
	for _, name := range []core.ResourceName{core.ResourceCPU, core.ResourceMemory, core.ResourceEphemeralStorage} {
		if request, ok := requests[name]; ok {
			used[name], used[core.DefaultResourceRequestsPrefix+name] = request, request
		}
		if limit, ok := limits[name]; ok {
			used["limits."+name] = limit
		}
	}
	for name, request := range requests {
		switch huge := strings.HasPrefix(string(name), core.ResourceHugePagesPrefix); {
		case huge:
			used[name], used[core.DefaultResourceRequestsPrefix+name] = request, request
		case isExtended(string(name)):
			used[core.DefaultResourceRequestsPrefix+name] = request
		}
	}
	return used
}

func (pods) inScope(scope core.ScopedResourceSelectorRequirement, obj any) (bool, error) {
	pod := obj.(*core.Pod)
	switch scope.ScopeName {
	case core.ResourceQuotaScopeTerminating:
		return hasDeadline(pod), nil
	case core.ResourceQuotaScopeNotTerminating:
		return !hasDeadline(pod), nil
	case core.ResourceQuotaScopeBestEffort:
		return isBestEffort(pod), nil
	case core.ResourceQuotaScopeNotBestEffort:
		return !isBestEffort(pod), nil
	case core.ResourceQuotaScopePriorityClass:
		class := pod.Spec.PriorityClassName
		var names []string
		if class != "" {
			names = []string{class}
		}
		return selects(scope, class != "", names)
	case core.ResourceQuotaScopeCrossNamespacePodAffinity:
		return looksAcross(pod), nil
	}
	return false, nil
}

func hasDeadline(pod *core.Pod) bool {
	deadline := pod.Spec.ActiveDeadlineSeconds
	return deadline != nil && *deadline >= 0
}

// isBestEffort reports whether no container has a request or a limit of CPU or memory.
func isBestEffort(pod *core.Pod) bool {
	if pod.Status.QOSClass != "" {
		return pod.Status.QOSClass == core.PodQOSBestEffort
	}
	lists := []core.ResourceList{}
	if whole := pod.Spec.Resources; whole != nil {
		lists = append(lists, whole.Requests, whole.Limits)
	}
	for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
		lists = append(lists, c.Resources.Requests, c.Resources.Limits)
	}
	for _, list := range lists {
		for _, name := range []core.ResourceName{core.ResourceCPU, core.ResourceMemory} {
			if quantity := list[name]; !quantity.IsZero() {
				return false
			}
		}
	}
	return true
}

// selects reports whether a scope selects an object by names that it has, or by whether it has some.
func selects(scope core.ScopedResourceSelectorRequirement, has bool, names []string) (bool, error) {
	if scope.Operator == core.ScopeSelectorOpExists {
		return has, nil
	}
	operators := map[core.ScopeSelectorOperator]selection.Operator{
		core.ScopeSelectorOpIn: selection.In, core.ScopeSelectorOpNotIn: selection.NotIn,
		core.ScopeSelectorOpDoesNotExist: selection.DoesNotExist,
	}
	operator, known := operators[scope.Operator]
	if !known {
		return false, fmt.Errorf("failed to parse and convert selector: %q is not a valid scope selector operator",
			scope.Operator)
	}
	requirement, err := labels.NewRequirement(string(scope.ScopeName), operator, scope.Values)
	if err != nil {
		return false, fmt.Errorf("failed to parse and convert selector: %w", err)
	}
	if len(names) == 0 {
		return requirement.Matches(labels.Set{}), nil
	}
	return slices.ContainsFunc(names, func(name string) bool {
		return requirement.Matches(labels.Set{string(scope.ScopeName): name})
	}), nil
}

// looksAcross reports whether a pod's affinity looks at pods of other namespaces.
func looksAcross(pod *core.Pod) bool {
	affinity := pod.Spec.Affinity
	if affinity == nil {
		return false
	}
	var terms []core.PodAffinityTerm
	collect := func(required []core.PodAffinityTerm, preferred []core.WeightedPodAffinityTerm) {
		terms = append(terms, required...)
		for _, weighted := range preferred {
			terms = append(terms, weighted.PodAffinityTerm)
		}
	}
	if a := affinity.PodAffinity; a != nil {
		collect(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a := affinity.PodAntiAffinity; a != nil {
		collect(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return slices.ContainsFunc(terms, func(term core.PodAffinityTerm) bool {
		return len(term.Namespaces) > 0 || term.NamespaceSelector != (*metav1.LabelSelector)(nil)
	})
}

// demanded are the resources that each container must state where a quota counts them.
var demanded = []core.ResourceName{
	core.ResourceCPU, core.ResourceMemory, core.ResourceRequestsCPU, core.ResourceRequestsMemory,
	core.ResourceLimitsCPU, core.ResourceLimitsMemory,
}

func (pods) check(names []core.ResourceName, obj any) error {
	pod := obj.(*core.Pod)
	if podresource.IsPodLevelResourcesSet(pod) {
		return nil
	}
	missing := map[core.ResourceName][]string{}
	for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
		stated := usageOf(c.Resources.Requests, c.Resources.Limits)
		for _, name := range names {
			_, ok := stated[name]
			if !ok && slices.Contains(demanded, name) && !slices.Contains(missing[name], c.Name) {
				missing[name] = append(missing[name], c.Name)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		slices.Sort(missing[name])
		parts = append(parts, fmt.Sprintf("%s for: %s", name, strings.Join(missing[name], ",")))
	}
	return fmt.Errorf("must specify %s", strings.Join(parts, "; "))
}
