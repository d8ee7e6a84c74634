package serviceaccount

import (
	"context"
	"errors"
	"fmt"

	"apigen.dev/runtime/reach"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// errNotServed says that the server has no objects of a kind.
var errNotServed = errors.New("this server does not serve the kind")

// served looks an object up among those that the server itself serves.
func served(ctx context.Context, kind Kind, namespace, name string) (metav1.Object, error) {
	switch kind {
	case Account:
		return get[*corev1.ServiceAccount](ctx, namespace, name)
	case Secret:
		return get[*corev1.Secret](ctx, namespace, name)
	case Pod:
		return get[*corev1.Pod](ctx, namespace, name)
	case Node:
		return get[*corev1.Node](ctx, namespace, name)
	}
	return nil, fmt.Errorf("%w %s", errNotServed, kind)
}

func get[T metav1.Object](ctx context.Context, namespace, name string) (metav1.Object, error) {
	objects, err := reach.Of[T](ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotServed, err)
	}
	object, err := objects.Get(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	return object, nil
}

// nodeName returns the name of the node on which a Pod runs, "" for none.
func nodeName(pod any) string {
	if pod, ok := pod.(*corev1.Pod); ok {
		return pod.Spec.NodeName
	}
	return ""
}
