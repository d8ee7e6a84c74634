package v1

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What runs a pod is an agent on the machine that status.hostIP names; requests for its output and its processes are passed
// on to it, as kube-apiserver passes them on to a kubelet. Functions that are named after a subresource and the kind are what
// a method would be, were Pod a type of this module.

// Log_Pod is pods/log.
func Log_Pod(ctx context.Context, pod *corev1.Pod, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	if err := hasContainer(pod, options.Container); err != nil {
		return nil, err
	}
	return agentOf(pod).log(ctx, options)
}

// Exec_Pod is pods/exec.
func Exec_Pod(_ context.Context, pod *corev1.Pod, options *corev1.PodExecOptions) (http.Handler, error) {
	if len(options.Command) == 0 {
		return nil, apierrors.NewBadRequest("you must specify at least 1 command for the container")
	}
	if err := hasContainer(pod, options.Container); err != nil {
		return nil, err
	}
	return agentOf(pod).connect("exec")
}

// Attach_Pod is pods/attach.
func Attach_Pod(_ context.Context, pod *corev1.Pod, options *corev1.PodAttachOptions) (http.Handler, error) {
	if err := hasContainer(pod, options.Container); err != nil {
		return nil, err
	}
	return agentOf(pod).connect("attach")
}

// Portforward_Pod is pods/portforward.
func Portforward_Pod(_ context.Context, pod *corev1.Pod, _ *corev1.PodPortForwardOptions) (http.Handler, error) {
	return agentOf(pod).connect("portforward")
}

// Binding_Pod is pods/binding: a scheduler's word on which node a pod is to run.
func Binding_Pod(_ context.Context, pod *corev1.Pod, in *corev1.Binding) error {
	switch {
	case in.Target.Kind != "" && in.Target.Kind != "Node":
		return apierrors.NewBadRequest(fmt.Sprintf("a pod is bound to a Node, and not to a %s", in.Target.Kind))
	case in.Target.Name == "":
		return apierrors.NewBadRequest("target.name is the node, and is empty")
	case in.UID != "" && in.UID != pod.UID, pod.DeletionTimestamp != nil:
		return apierrors.NewConflict(pods, pod.Name, fmt.Errorf("it is another pod now, or is being deleted"))
	case pod.Spec.NodeName != "":
		return apierrors.NewConflict(pods, pod.Name, fmt.Errorf("it is assigned to node %q already", pod.Spec.NodeName))
	}
	pod.Spec.NodeName = in.Target.Name
	pod.Status.Conditions = append(
		slices.DeleteFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled }),
		corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(time.Now())})
	return nil
}

// pods is how errors call the resource.
var pods = corev1.Resource("pods")

// hasContainer refuses the name of a container that the pod doesn't have. None is the first.
func hasContainer(pod *corev1.Pod, name string) error {
	if name == "" || slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == name }) {
		return nil
	}
	return apierrors.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s", name, pod.Name))
}
