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

// An agent on the machine that status.hostIP names runs a pod. The server passes requests for its output and its
// processes on to the agent, as kube-apiserver does to a kubelet. The functions are named after a subresource and the
// kind. They take the place of methods, which a type of another module can't have.

// Log_Pod implements pods/log.
func Log_Pod(ctx context.Context, pod *corev1.Pod, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	if err := hasContainer(pod, options.Container); err != nil {
		return nil, err
	}
	return agentOf(pod).log(ctx, options)
}

// Exec_Pod implements pods/exec.
func Exec_Pod(_ context.Context, pod *corev1.Pod, options *corev1.PodExecOptions) (http.Handler, error) {
	if len(options.Command) == 0 {
		return nil, apierrors.NewBadRequest("you must specify at least 1 command for the container")
	}
	if err := hasContainer(pod, options.Container); err != nil {
		return nil, err
	}
	return agentOf(pod).connect("exec")
}

// Attach_Pod implements pods/attach.
func Attach_Pod(_ context.Context, pod *corev1.Pod, options *corev1.PodAttachOptions) (http.Handler, error) {
	if err := hasContainer(pod, options.Container); err != nil {
		return nil, err
	}
	return agentOf(pod).connect("attach")
}

// Portforward_Pod implements pods/portforward.
func Portforward_Pod(_ context.Context, pod *corev1.Pod, _ *corev1.PodPortForwardOptions) (http.Handler, error) {
	return agentOf(pod).connect("portforward")
}

// Binding_Pod implements pods/binding: a scheduler assigns the pod to a node.
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
		slices.DeleteFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodScheduled
		}),
		corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue,
			LastTransitionTime: metav1.NewTime(time.Now())})
	return nil
}

// pods is the resource in errors.
var pods = corev1.Resource("pods")

// hasContainer returns an error if the pod has no container of the name. An empty name is the first container.
func hasContainer(pod *corev1.Pod, name string) error {
	if name == "" || slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == name }) {
		return nil
	}
	return apierrors.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s", name, pod.Name))
}
