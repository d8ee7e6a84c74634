package v1

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pods is the resource in errors.
var pods = corev1.Resource("pods/binding")

// Binding_Pod implements pods/binding: a scheduler assigns the pod to a node.
func Binding_Pod(_ context.Context, pod *corev1.Pod, in *corev1.Binding) error {
	conflict := func(format string, args ...any) error {
		return apierrors.NewConflict(pods, pod.Name, fmt.Errorf(format, args...))
	}
	switch {
	case in.UID != "" && in.UID != pod.UID:
		return conflict("Precondition failed: UID in precondition: %v, UID in object meta: %v", in.UID, pod.UID)
	case pod.DeletionTimestamp != nil:
		return conflict("pod %s is being deleted, cannot be assigned to a host", pod.Name)
	case pod.Spec.NodeName != "":
		return conflict("pod %v is already assigned to node %q", pod.Name, pod.Spec.NodeName)
	case len(pod.Spec.SchedulingGates) > 0:
		return conflict("pod %v has non-empty .spec.schedulingGates", pod.Name)
	}
	pod.Spec.NodeName = in.Target.Name
	if len(in.Annotations) > 0 && pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	maps.Copy(pod.Annotations, in.Annotations)
	scheduled(&pod.Status)
	return nil
}

// scheduled sets the condition that a pod has a node.
func scheduled(status *corev1.PodStatus) {
	now := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue,
		LastTransitionTime: metav1.NewTime(time.Now())}
	at := slices.IndexFunc(status.Conditions, func(c corev1.PodCondition) bool { return c.Type == now.Type })
	switch {
	case at < 0:
		status.Conditions = append(status.Conditions, now)
	case status.Conditions[at].Status != now.Status:
		status.Conditions[at] = now
	}
}
