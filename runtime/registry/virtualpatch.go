package registry

import (
	"bytes"
	"context"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/store"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// maxVirtualPatches is how often a patch is tried that names no version.
const maxVirtualPatches = 5

// Patch implements Write.
func (h *virtualHandle[T]) Patch(ctx context.Context, namespace, name, subresource string, kind api.PatchType, body api.Body, opts api.WriteOptions) (api.Result, error) {
	t, err := h.writable("patch", namespace, name, subresource, body.Version)
	if err != nil {
		return api.Result{}, err
	}
	patch := func() (result api.Result, again bool, err error) { return h.patch(ctx, t, kind, body, opts) }
	if kind == api.ApplyPatch {
		patch = func() (result api.Result, again bool, err error) { return h.apply(ctx, t, body, opts) }
	}
	for attempt := 1; ; attempt++ {
		result, again, err := patch()
		if err == nil || !again || attempt == maxVirtualPatches {
			return result, err
		}
	}
}

// patch patches an object as it is now; again tells that the error is of somebody who was faster.
func (h *virtualHandle[T]) patch(ctx context.Context, t target[T], kind api.PatchType, body api.Body, opts api.WriteOptions) (result api.Result, again bool, err error) {
	old, err := h.object(ctx, t.namespace, t.name)
	if err != nil {
		return api.Result{}, false, err
	}
	obj, warnings, err := h.patchedView(t.version, old, kind, body)
	if err != nil {
		return api.Result{Warnings: warnings}, false, err
	}
	meant := obj.GetResourceVersion() != old.GetResourceVersion()
	result, err = h.replace(ctx, &t, obj, old, warnings, opts)
	return result, apierrors.IsConflict(err) && !meant, err
}

// apply is a server-side apply to an object as it is now, or to none. What changes nothing the provider isn't asked for.
func (h *virtualHandle[T]) apply(ctx context.Context, t target[T], body api.Body, opts api.WriteOptions) (result api.Result, again bool, err error) {
	owners, err := h.owners()
	if err != nil {
		return api.Result{}, false, apierrors.NewInternalError(err)
	}
	old, err := h.object(ctx, t.namespace, t.name)
	current := &store.State[T]{Object: old, Exists: err == nil}
	if err != nil && (!apierrors.IsNotFound(err) || h.provider.Create == nil) {
		return api.Result{}, false, err
	}
	t.owned = true
	obj, err := owners.apply(&t, current, body, opts)
	if err != nil {
		return api.Result{}, false, err
	}
	if !current.Exists {
		result, err = h.createApplied(ctx, &t, obj, opts)
		return result, apierrors.IsAlreadyExists(err), err
	}
	if h.unchanged(old, obj) {
		result.Object, err = h.render(old, opts.Form)
		return result, false, err
	}
	meant := obj.GetResourceVersion() != old.GetResourceVersion()
	result, err = h.replace(ctx, &t, obj, old, nil, opts)
	return result, apierrors.IsConflict(err) && !meant, err
}

// createApplied creates what was applied where nothing was.
func (h *virtualHandle[T]) createApplied(ctx context.Context, t *target[T], obj T, opts api.WriteOptions) (api.Result, error) {
	err := isNew(h.info.GroupResource(), obj, t.name)
	if err == nil {
		err = place(obj, h.info.Scope, t.namespace)
	}
	if err == nil {
		err = checkName(obj, t.name)
	}
	if err != nil {
		return api.Result{}, err
	}
	return h.create(ctx, t, obj, nil, opts)
}

// unchanged tells whether two objects differ in nothing but the times in managedFields.
func (h *virtualHandle[T]) unchanged(a, b T) bool {
	x, err := h.versions.Storage.Encode(a)
	if err != nil {
		return false
	}
	y, err := h.versions.Storage.Encode(b)
	return err == nil && (bytes.Equal(x, y) || sameButTimes(x, y, a.GetManagedFields(), b.GetManagedFields()))
}

// patchedView is what a patch makes of an object, which isn't changed.
func (h *virtualHandle[T]) patchedView(v *codec.Served[T], old T, kind api.PatchType, body api.Body) (obj T, warnings []string, err error) {
	p, strict, err := patcherOf(v, kind, body)
	if err != nil {
		return obj, nil, err
	}
	object, err := v.Encode(old)
	if err != nil {
		return obj, nil, apierrors.NewInternalError(err)
	}
	if object, err = p.Apply(object); err != nil {
		return obj, nil, err
	}
	if obj, warnings, err = decodePatched(v, h.definition.New(), p, object, strict, body.Validation); err != nil {
		return obj, nil, err
	}
	return obj, warnings, keepsVersion(p, object)
}
