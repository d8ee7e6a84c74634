package admit

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/reach"
)

// runtimeClass gives a pod what its runtime class says: what running it costs beside its containers, and where it runs.
func runtimeClass() admission.Plugin {
	return admission.For(admission.Typed[*corev1.Pod]{
		Name: "RuntimeClass", Operations: []admission.Operation{admission.Create},
		Admit: func(ctx context.Context, _ *admission.Attributes, pod, _ *corev1.Pod) error {
			if pod.Spec.RuntimeClassName == nil {
				return nil
			}
			classes, err := reach.Of[*nodev1.RuntimeClass](ctx)
			if err != nil {
				return err
			}
			class, err := classes.Get(ctx, "", *pod.Spec.RuntimeClassName)
			if apierrors.IsNotFound(err) {
				return fmt.Errorf("pod rejected: RuntimeClass %q not found", *pod.Spec.RuntimeClassName)
			}
			if err != nil {
				return err
			}
			return apply(class, &pod.Spec)
		},
	})
}

func apply(class *nodev1.RuntimeClass, spec *corev1.PodSpec) error {
	if class.Overhead != nil {
		if len(spec.Overhead) > 0 && !equality.Semantic.DeepEqual(class.Overhead.PodFixed, spec.Overhead) {
			return fmt.Errorf("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
		}
		spec.Overhead = class.Overhead.PodFixed
	}
	if class.Scheduling == nil {
		return nil
	}
	for key, value := range class.Scheduling.NodeSelector {
		if has, found := spec.NodeSelector[key]; found && has != value {
			return fmt.Errorf("conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; pod.spec.nodeSelector[%s] = %s",
				key, value, key, has)
		}
		if spec.NodeSelector == nil {
			spec.NodeSelector = map[string]string{}
		}
		spec.NodeSelector[key] = value
	}
	for _, toleration := range class.Scheduling.Tolerations {
		if !tolerates(spec.Tolerations, &toleration) {
			spec.Tolerations = append(spec.Tolerations, toleration)
		}
	}
	return nil
}

func tolerates(tolerations []corev1.Toleration, want *corev1.Toleration) bool {
	for i := range tolerations {
		if equality.Semantic.DeepEqual(&tolerations[i], want) {
			return true
		}
	}
	return false
}
