package plugins

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/reach"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	podresource "k8s.io/component-helpers/resource"
)

// limitsAnnotation tells which requests and limits of a pod come from a LimitRange.
const limitsAnnotation = "kubernetes.io/limit-ranger"

// limitRanges is the plug-in LimitRanger: it sets the default requests and limits of containers that the LimitRanges of
// a namespace have, and refuses pods and claims of volumes that are outside their bounds.
func limitRanges() admission.Plugin {
	pods := admission.For(admission.Typed[*core.Pod]{
		Name: "LimitRanger", Subresources: []string{"", "resize"},
		Admit: limited(func(limits *core.LimitRange, pod *core.Pod) error {
			setLimits(limits, pod)
			return nil
		}),
		Validate: limited(checkPod),
	})
	claims := admission.For(admission.Typed[*core.PersistentVolumeClaim]{
		Name: "LimitRanger", Validate: limited(checkClaim),
	})
	return admission.Plugin{
		Name: "LimitRanger", Handles: pods.Handles, Admit: pods.Admit,
		Validate: func(ctx context.Context, a *admission.Attributes) error {
			if err := pods.Validate(ctx, a); err != nil || a.Subresource != "" {
				return err
			}
			return claims.Validate(ctx, a)
		},
	}
}

// limited returns a function that runs check with each LimitRange of the namespace. The containers of a pod change by
// its subresource resize alone, and an object that is being deleted may do without.
func limited[T api.Object](
	check func(limits *core.LimitRange, obj T) error,
) func(context.Context, *admission.Attributes, T, T) error {
	return func(ctx context.Context, a *admission.Attributes, obj, old T) error {
		_, isPod := any(obj).(*core.Pod)
		if isPod && a.Operation == admission.Update && a.Subresource == "" ||
			a.Old != nil && old.GetDeletionTimestamp() != nil {
			return nil
		}
		ranges, err := reach.Of[*core.LimitRange](ctx)
		if err != nil {
			return nil //nolint:nilerr // The server has no such kind.
		}
		all, err := ranges.List(ctx, a.Namespace, nil)
		if err != nil {
			return fmt.Errorf("unable to %s %v at this time because there was an error enforcing limit ranges",
				a.Operation, a.Resource)
		}
		for _, limits := range all {
			if err := check(limits, obj); err != nil {
				return err
			}
		}
		return nil
	}
}

// setLimits sets the defaults of containers.
func setLimits(limits *core.LimitRange, pod *core.Pod) {
	requests, most := core.ResourceList{}, core.ResourceList{}
	for _, item := range limits.Spec.Limits {
		if item.Type == core.LimitTypeContainer {
			maps.Copy(requests, item.DefaultRequest)
			maps.Copy(most, item.Default)
		}
	}
	var set []string
	for _, list := range []struct {
		kind       string
		containers []core.Container
	}{{"container", pod.Spec.Containers}, {"init container", pod.Spec.InitContainers}} {
		for i := range list.containers {
			c := &list.containers[i]
			set = append(set, setMissing(&c.Resources.Requests, requests, "request", list.kind, c.Name)...)
			set = append(set, setMissing(&c.Resources.Limits, most, "limit", list.kind, c.Name)...)
		}
	}
	if len(set) > 0 {
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations[limitsAnnotation] = "LimitRanger plugin set: " + strings.Join(set, "; ")
	}
}

// setMissing adds the quantities that a list lacks, and tells which ones, in words for the annotation.
func setMissing(list *core.ResourceList, defaults core.ResourceList, what, kind, name string) []string {
	var missing []string
	for resource, quantity := range defaults {
		if _, given := (*list)[resource]; !given {
			if *list == nil {
				*list = core.ResourceList{}
			}
			(*list)[resource] = quantity.DeepCopy()
			missing = append(missing, string(resource))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return []string{fmt.Sprintf("%s %s for %s %s", strings.Join(missing, ", "), what, kind, name)}
}

func checkPod(limits *core.LimitRange, pod *core.Pod) error {
	var errs []error
	for _, item := range limits.Spec.Limits {
		switch item.Type {
		case core.LimitTypeContainer:
			for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
				errs = append(errs, checkBounds(item, c.Resources.Requests, c.Resources.Limits)...)
			}
		case core.LimitTypePod:
			options := podresource.PodResourcesOptions{ExcludeOverhead: true}
			errs = append(errs, checkBounds(item, podresource.PodRequests(pod, options),
				podresource.PodLimits(pod, options))...)
		}
	}
	return utilerrors.NewAggregate(errs)
}

func checkClaim(limits *core.LimitRange, claim *core.PersistentVolumeClaim) error {
	var errs []error
	requests := claim.Spec.Resources.Requests
	for _, item := range limits.Spec.Limits {
		if item.Type != core.LimitTypePersistentVolumeClaim {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(item.Min)) {
			errs = append(errs, checkLeast(item.Type, name, item.Min[name], requests, nil))
		}
		for _, name := range slices.Sorted(maps.Keys(item.Max)) {
			most, request := item.Max[name], quantityOf(requests, name)
			switch {
			case request == nil:
				errs = append(errs, missing("maximum", name, item.Type, most, "request"))
			case request.Cmp(most) > 0:
				errs = append(errs, outside("maximum", name, item.Type, most, "request", request))
			}
		}
	}
	return utilerrors.NewAggregate(errs)
}

// checkBounds checks the requests and limits of a container or of a pod.
func checkBounds(item core.LimitRangeItem, requests, limits core.ResourceList) (errs []error) {
	for _, name := range slices.Sorted(maps.Keys(item.Min)) {
		errs = append(errs, checkLeast(item.Type, name, item.Min[name], requests, limits))
	}
	for _, name := range slices.Sorted(maps.Keys(item.Max)) {
		errs = append(errs, checkMost(item.Type, name, item.Max[name], requests, limits))
	}
	for _, name := range slices.Sorted(maps.Keys(item.MaxLimitRequestRatio)) {
		errs = append(errs, checkRatio(item.Type, name, item.MaxLimitRequestRatio[name], requests, limits))
	}
	return errs
}

func checkLeast(
	of core.LimitType, name core.ResourceName, least resource.Quantity, requests, limits core.ResourceList,
) error {
	request, limit := quantityOf(requests, name), quantityOf(limits, name)
	switch {
	case request == nil:
		return missing("minimum", name, of, least, "request")
	case request.Cmp(least) < 0:
		return outside("minimum", name, of, least, "request", request)
	case limit != nil && limit.Cmp(least) < 0:
		return outside("minimum", name, of, least, "limit", limit)
	}
	return nil
}

func checkMost(
	of core.LimitType, name core.ResourceName, most resource.Quantity, requests, limits core.ResourceList,
) error {
	request, limit := quantityOf(requests, name), quantityOf(limits, name)
	switch {
	case limit == nil:
		return missing("maximum", name, of, most, "limit")
	case limit.Cmp(most) > 0:
		return outside("maximum", name, of, most, "limit", limit)
	case request != nil && request.Cmp(most) > 0:
		return outside("maximum", name, of, most, "request", request)
	}
	return nil
}

func checkRatio(
	of core.LimitType, name core.ResourceName, most resource.Quantity, requests, limits core.ResourceList,
) error {
	request, limit := quantityOf(requests, name), quantityOf(limits, name)
	what := fmt.Sprintf("%s max limit to request ratio per %s is %s, but ", name, of, most.String())
	switch {
	case request == nil || request.IsZero():
		return fmt.Errorf("%sno request is specified or request is 0", what)
	case limit == nil || limit.IsZero():
		return fmt.Errorf("%sno limit is specified or limit is 0", what)
	}
	ratio := limit.AsApproximateFloat64() / request.AsApproximateFloat64()
	if ratio > most.AsApproximateFloat64() {
		return fmt.Errorf("%sprovided ratio is %f", what, ratio)
	}
	return nil
}

func quantityOf(list core.ResourceList, name core.ResourceName) *resource.Quantity {
	if quantity, ok := list[name]; ok {
		return &quantity
	}
	return nil
}

func missing(bound string, name core.ResourceName, of core.LimitType, at resource.Quantity, what string) error {
	return fmt.Errorf("%s %s usage per %s is %s.  No %s is specified", bound, name, of, at.String(), what)
}

func outside(
	bound string, name core.ResourceName, of core.LimitType, at resource.Quantity, what string,
	found *resource.Quantity,
) error {
	return fmt.Errorf("%s %s usage per %s is %s, but %s is %s", bound, name, of, at.String(), what, found.String())
}
