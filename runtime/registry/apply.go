package registry

import (
	"context"
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

// apply is a server-side apply: it creates the object where there is none, else merges what is applied into it.
func (h *handle[T]) apply(ctx context.Context, t target[T], body api.Body, opts api.WriteOptions) (api.Result, error) {
	owners, err := h.owners()
	if err != nil {
		return api.Result{}, apierrors.NewInternalError(err)
	}
	t.create, t.owned = t.subresource == nil, true
	return h.update(ctx, t, opts, func(current *store.State[T]) (obj T, warnings []string, err error) {
		if obj, err = owners.apply(&t, current, body, opts); err != nil {
			return obj, nil, err
		}
		if !current.Exists {
			if err := isNew(h.store.Resource(), obj, t.name); err != nil {
				return obj, nil, err
			}
		}
		return obj, nil, h.isTarget(obj, t)
	})
}

// apply is the object that what is applied makes of the current state, with its managedFields.
func (o *owners[T]) apply(t *target[T], current *store.State[T], body api.Body, opts api.WriteOptions) (obj T, err error) {
	config, err := configuration(t.version.GVK, body)
	if err != nil {
		return obj, err
	}
	live := &ownership.Live{
		Object: &owned[T]{owners: o, obj: current.Object, absent: !current.Exists},
		Empty:  &owned[T]{owners: o, absent: true},
	}
	if current.Exists {
		live.ManagedFields = current.Object.GetManagedFields()
		live.LastApplied = current.Object.GetAnnotations()[ownership.LastAppliedAnnotation]
	}
	applied, err := o.manager(t).Apply(live, config, opts.FieldManager, opts.Force)
	if err != nil {
		return obj, err
	}
	if obj, err = o.applied(t, current, applied); err != nil {
		return obj, err
	}
	return obj, annotate(obj, config, opts.FieldManager)
}

// isNew refuses to create what is said to be a certain object.
func isNew(gr schema.GroupResource, obj metav1.Object, name string) error {
	if uid := obj.GetUID(); uid != "" {
		return apierrors.NewConflict(gr, name,
			fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
	}
	return forgetVersion(obj)
}

// forgetVersion takes from an object that an update creates what it was made from: that is gone, and what is wanted counts.
func forgetVersion(obj metav1.Object) error {
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
func (o *owners[T]) applied(t *target[T], current *store.State[T], applied ownership.Applied) (obj T, err error) {
	if applied.Object == nil && current.Exists {
		obj = current.Object.DeepCopyObject().(T)
	} else if obj, err = t.version.FromMap(applied.Object, o.versions.NewHub(), true); err != nil {
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
