package registry

import (
	"fmt"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/ownership"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// apply returns the attempt's old object with the applied configuration merged into it, and its managedFields.
func (o *fieldManagers[T]) apply(a *attempt[T], body api.Body) (obj T, err error) {
	current := a.old
	config, err := decodeConfiguration(a.version, body)
	if err != nil {
		return obj, err
	}
	live := &ownership.Live{
		Object: &managedObject[T]{managers: o, obj: current.Object, absent: !current.Exists},
		Empty:  &managedObject[T]{managers: o, absent: true},
	}
	if current.Exists {
		live.ManagedFields = current.Object.GetManagedFields()
		live.LastApplied = current.Object.GetAnnotations()[ownership.LastAppliedAnnotation]
	}
	applied, err := o.manager(a).Apply(live, config, a.options.FieldManager, a.options.Force)
	if err != nil {
		return obj, err
	}
	if obj, err = o.applied(a, applied); err != nil {
		return obj, err
	}
	return obj, annotate(obj, config, a.options.FieldManager)
}

// decodeConfiguration decodes the body of an apply, anew for each attempt: the merge may keep parts of the result.
func decodeConfiguration[T api.Object](v *codec.Served[T], body api.Body) (map[string]any, error) {
	config, err := v.DecodeApply(body)
	if metadata, ok := config["metadata"].(map[string]any); err == nil && ok && metadata["managedFields"] != nil {
		return nil, apierrors.NewBadRequest("metadata.managedFields must be nil")
	}
	return config, err
}

func (o *fieldManagers[T]) applied(a *attempt[T], applied ownership.Applied) (obj T, err error) {
	if applied.Object == nil && a.old.Exists {
		obj = a.old.Object.DeepCopyObject().(T)
	} else if obj, err = a.version.FromApplied(applied.Object, o.versions.NewHub()); err != nil {
		return obj, err
	}
	obj.SetManagedFields(applied.ManagedFields)
	return obj, nil
}

// annotate updates kubectl's annotation for client-side apply, where kubectl applies on the server's side.
func annotate(obj metav1.Object, config map[string]any, manager string) error {
	annotations := obj.GetAnnotations()
	if manager != ownership.Kubectl || annotations[ownership.LastAppliedAnnotation] == "" {
		return nil
	}
	value, err := ownership.LastApplied(config)
	if err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("failed to build last-applied annotation: %v", err))
	}
	annotations[ownership.LastAppliedAnnotation] = value
	if validation.ValidateAnnotationsSize(annotations) != nil {
		delete(annotations, ownership.LastAppliedAnnotation)
	}
	obj.SetAnnotations(annotations)
	return nil
}
