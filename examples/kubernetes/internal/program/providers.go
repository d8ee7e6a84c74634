package program

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/registry"

	v1 "example.com/kubernetes/apis/core/v1"
)

// bindings are the older way to assign a pod to a node: the same as pods/binding.
type bindings struct{}

// Create assigns the pod that a binding names.
func (bindings) Create(ctx context.Context, binding *corev1.Binding, _ bool) (*corev1.Binding, error) {
	pods, err := reach.Of[*corev1.Pod](ctx)
	if err != nil {
		return nil, err
	}
	_, err = pods.Update(ctx, binding.Namespace, binding.Name, reach.Write{Subresource: "binding"},
		func(pod *corev1.Pod) error { return v1.Binding_Pod(ctx, pod, binding) })
	return binding, err
}

// components are the states of other components, which this server doesn't ask for.
type components struct{}

// Get knows no component.
func (components) Get(_ context.Context, _, name string) (*corev1.ComponentStatus, error) {
	return nil, apierrors.NewNotFound(corev1.Resource("componentstatuses"), name)
}

// List knows no component.
func (components) List(context.Context, string, api.Selection) (*registry.List[*corev1.ComponentStatus], error) {
	return &registry.List[*corev1.ComponentStatus]{}, nil
}
