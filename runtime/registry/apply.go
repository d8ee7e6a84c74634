package registry

import (
	"fmt"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/ownership"
	"apigen.dev/runtime/store"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
)

// apply is the object that what is applied makes of the attempt's old one, with its managedFields.
func (o *fieldManagers[T]) apply(a *attempt[T], body api.Body) (obj T, err error) {
	current := a.old
	config, err := configuration(a.version.GVK, body)
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

// refuseUID refuses to create what is said to be a certain object.
func refuseUID(gr schema.GroupResource, obj metav1.Object, name string) error {
	uid := obj.GetUID()
	if uid == "" {
		return nil
	}
	return apierrors.NewConflict(gr, name,
		fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
}

// dropVersion takes from an object that an update creates what it was made from: that is gone, and what is wanted
// counts.
func dropVersion(obj metav1.Object) error {
	_, err := store.ParseVersion(obj.GetResourceVersion())
	obj.SetResourceVersion("")
	return err
}

// configuration reads what is applied, anew for each attempt: merging may take parts of it over.
func configuration(kind schema.GroupVersionKind, body api.Body) (map[string]any, error) {
	var config map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body.Data, &config); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	u := unstructured.Unstructured{Object: config}
	if gvk := u.GroupVersionKind(); gvk != kind {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("invalid object type: %v", gvk))
	}
	if metadata, ok := config["metadata"].(map[string]any); ok && metadata["managedFields"] != nil {
		return nil, apierrors.NewBadRequest("metadata.managedFields must be nil")
	}
	return config, nil
}

// applied is the hub object that an apply made.
func (o *fieldManagers[T]) applied(a *attempt[T], applied ownership.Applied) (obj T, err error) {
	if applied.Object == nil && a.old.Exists {
		obj = a.old.Object.DeepCopyObject().(T)
	} else if obj, err = a.version.FromMap(applied.Object, o.versions.NewHub(), true); err != nil {
		return obj, apierrors.NewBadRequest(fmt.Sprintf("failed to convert new object to proper version: %v", err))
	}
	obj.SetManagedFields(applied.ManagedFields)
	return obj, nil
}

// annotate keeps kubectl's annotation up to date where kubectl goes from applying on the client's side to the server's.
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
