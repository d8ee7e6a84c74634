package plugins

import (
	"cmp"
	"context"
	"fmt"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/reach"
	core "k8s.io/api/core/v1"
	scheduling "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// priorities is the plug-in Priority. For pods, it sets the priority of the class that a pod names, or of the default
// class; for priority classes, it refuses a second default.
func priorities() admission.Plugin {
	pods := admission.For(admission.Typed[*core.Pod]{Name: "Priority", Admit: prioritize})
	classes := admission.For(admission.Typed[*scheduling.PriorityClass]{Name: "Priority", Validate: checkDefault})
	return admission.Plugin{Name: "Priority", Handles: pods.Handles, Admit: pods.Admit, Validate: classes.Validate}
}

func prioritize(ctx context.Context, a *admission.Attributes, pod, old *core.Pod) error {
	if a.Operation == admission.Update {
		// Clients that don't know the fields don't send them back.
		pod.Spec.Priority = cmp.Or(pod.Spec.Priority, old.Spec.Priority)
		pod.Spec.PreemptionPolicy = cmp.Or(pod.Spec.PreemptionPolicy, old.Spec.PreemptionPolicy)
		return nil
	}
	class, err := classOf(ctx, pod)
	if err != nil {
		return err
	}
	if given := pod.Spec.Priority; given != nil && *given != class.Value {
		return fmt.Errorf("the integer value of priority (%d) must not be provided in pod spec; priority admission "+
			"controller computed %d from the given PriorityClass name", *given, class.Value)
	}
	pod.Spec.PriorityClassName, pod.Spec.Priority = class.Name, &class.Value
	if class.PreemptionPolicy == nil {
		return nil
	}
	if given := pod.Spec.PreemptionPolicy; given != nil && *given != *class.PreemptionPolicy {
		return fmt.Errorf("the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority "+
			"admission controller computed %s from the given PriorityClass name", *given, *class.PreemptionPolicy)
	}
	pod.Spec.PreemptionPolicy = class.PreemptionPolicy
	return nil
}

// classOf returns the priority class of a new pod. Where the pod names none and there is no default, it has no name.
func classOf(ctx context.Context, pod *core.Pod) (*scheduling.PriorityClass, error) {
	name := pod.Spec.PriorityClassName
	if name == "" {
		class, err := defaultClass(ctx)
		if class == nil && err == nil {
			lower := core.PreemptLowerPriority
			class = &scheduling.PriorityClass{PreemptionPolicy: &lower}
		}
		return class, err
	}
	classes, err := reach.Of[*scheduling.PriorityClass](ctx)
	if err != nil {
		return nil, fmt.Errorf("no PriorityClass with name %v was found", name)
	}
	class, err := classes.Get(ctx, "", name)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("no PriorityClass with name %v was found", name)
	}
	return class, err
}

// defaultClass returns the default priority class, or nil. Of several, which a race can make, it is the lowest.
func defaultClass(ctx context.Context) (*scheduling.PriorityClass, error) {
	classes, err := reach.Of[*scheduling.PriorityClass](ctx)
	if err != nil {
		return nil, nil //nolint:nilerr // The server has no such kind.
	}
	all, err := classes.List(ctx, "", nil)
	if err != nil {
		return nil, err
	}
	var lowest *scheduling.PriorityClass
	for _, class := range all {
		if class.GlobalDefault && (lowest == nil || class.Value < lowest.Value) {
			lowest = class
		}
	}
	return lowest, nil
}

func checkDefault(ctx context.Context, _ *admission.Attributes, class, _ *scheduling.PriorityClass) error {
	if !class.GlobalDefault {
		return nil
	}
	other, err := defaultClass(ctx)
	if err != nil || other == nil || other.Name == class.Name {
		return err
	}
	return fmt.Errorf("PriorityClass %v is already marked as default. Only one default can exist", other.Name)
}
