package registry

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxVirtualPatches is how often a patch is tried that names no version.
const maxVirtualPatches = 5

// Update implements Write.
func (h *virtualHandle[T]) Update(ctx context.Context, namespace, name, subresource string, body Body, opts WriteOptions) (Result, error) {
	v, old, err := h.writable(ctx, "update", namespace, name, subresource, body.Version)
	if err != nil {
		return Result{}, err
	}
	obj, warnings, err := decodeInto(v, h.definition.New(), body)
	if err != nil {
		return Result{}, err
	}
	return h.replace(ctx, v, namespace, obj, old, warnings, opts)
}

// Patch implements Write. There are no owners of fields to keep, so there is nothing to apply to.
func (h *virtualHandle[T]) Patch(ctx context.Context, namespace, name, subresource string, kind PatchType, body Body, opts WriteOptions) (Result, error) {
	if kind == ApplyPatch && h.provider.Update != nil {
		return Result{}, apierrors.NewGenericServerResponse(415, "", schema.GroupResource{}, "", "what nothing is stored of can't be applied: the patch types are "+
			string(JSONPatch+", "+MergePatch+", "+StrategicPatch), 0, true)
	}
	for attempt := 1; ; attempt++ {
		v, old, err := h.writable(ctx, "patch", namespace, name, subresource, body.Version)
		if err != nil {
			return Result{}, err
		}
		obj, warnings, err := h.patchedView(v, old, kind, body)
		if err != nil {
			return Result{Warnings: warnings}, err
		}
		meant := obj.GetResourceVersion() != old.GetResourceVersion()
		result, err := h.replace(ctx, v, namespace, obj, old, warnings, opts)
		if !apierrors.IsConflict(err) || meant || attempt == maxVirtualPatches {
			return result, err
		}
	}
}

// patchedView is what a patch makes of an object, which isn't changed.
func (h *virtualHandle[T]) patchedView(v *version[T], old T, kind PatchType, body Body) (obj T, warnings []string, err error) {
	p, strict, err := v.patcher(kind, body)
	if err != nil {
		return obj, nil, err
	}
	object, err := v.encode(old)
	if err != nil {
		return obj, nil, apierrors.NewInternalError(err)
	}
	if object, err = p.apply(object); err != nil {
		return obj, nil, err
	}
	return decodePatched(v, h.definition.New(), p, object, strict, body.Validation)
}

// writable is the object that a write is for, and the version that it is written in.
func (h *virtualHandle[T]) writable(ctx context.Context, verb, namespace, name, subresource, version string) (v *version[T], old T, err error) {
	if h.provider.Update == nil {
		return nil, old, h.unsupported(verb)
	}
	if subresource != "" {
		return nil, old, apierrors.NewGenericServerResponse(404, "", schema.GroupResource{}, "", "", 0, true)
	}
	if v, err = h.versions.of(version); err != nil {
		return nil, old, apierrors.NewInternalError(err)
	}
	old, err = h.object(ctx, namespace, name)
	return v, old, err
}

// replace checks what is to be in the place of old, and has the provider put it there.
func (h *virtualHandle[T]) replace(ctx context.Context, v *version[T], namespace string, obj, old T, warnings []string, opts WriteOptions) (Result, error) {
	failed := Result{Warnings: warnings}
	if err := place(obj, h.info.Scope, namespace); err != nil {
		return failed, err
	}
	if err := checkName(obj, old.GetName()); err != nil {
		return failed, err
	}
	gr, name := h.info.GroupResource(), old.GetName()
	if uid := obj.GetUID(); uid != "" && uid != old.GetUID() {
		return failed, apierrors.NewConflict(gr, name,
			fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", uid, old.GetUID()))
	}
	switch obj.GetResourceVersion() {
	case old.GetResourceVersion():
	case "":
		obj.SetResourceVersion(old.GetResourceVersion())
	default:
		return failed, apierrors.NewConflict(gr, name, fmt.Errorf("%s", optimisticLock))
	}
	inherit(obj, old)
	if err := h.validateUpdate(ctx, v, obj, old); err != nil {
		return failed, err
	}
	if warn := h.definition.Strategy.Warnings; warn != nil {
		warnings = append(warnings[:len(warnings):len(warnings)], warn(ctx, obj, old)...)
	}
	obj, err := h.provider.Update(ctx, obj, old, opts.DryRun)
	if err != nil {
		return Result{Warnings: warnings}, h.status(err, "update", name)
	}
	rendition, err := h.render(obj, opts.Form)
	return Result{Object: rendition, Warnings: warnings}, err
}

func (h *virtualHandle[T]) validateUpdate(ctx context.Context, v *version[T], obj, old T) error {
	errs := validation.ValidateObjectMetaAccessorUpdate(obj, old, metadataPath)
	rules, err := v.codec.validate(ctx, operation.Operation{Type: operation.Update}, obj, &old)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	errs = append(errs, rules...)
	if validate := h.definition.Strategy.Validate; validate != nil {
		errs = append(errs, validate(ctx, obj)...)
	}
	if validate := h.definition.Strategy.ValidateUpdate; validate != nil {
		errs = append(errs, validate(ctx, obj, old)...)
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: h.info.Group, Kind: h.info.Names.Kind}, obj.GetName(), errs)
}

// Delete implements Write.
func (h *virtualHandle[T]) Delete(ctx context.Context, namespace, name string, opts DeleteOptions) (Deletion, error) {
	if h.provider.Delete == nil {
		return Deletion{}, h.unsupported("delete")
	}
	obj, err := h.object(ctx, namespace, name)
	if err != nil {
		return Deletion{}, err
	}
	return h.remove(ctx, obj, opts)
}

// remove deletes an object that was read.
func (h *virtualHandle[T]) remove(ctx context.Context, obj T, opts DeleteOptions) (Deletion, error) {
	gr := schema.GroupResource{Group: h.info.Group, Resource: h.info.Names.Kind}
	if err := checkPreconditions(gr, obj.GetName(), opts.Preconditions, obj); err != nil {
		return Deletion{}, err
	}
	uid := string(obj.GetUID())
	left, err := h.provider.Delete(ctx, obj, asMeta(opts))
	if err != nil {
		return Deletion{}, h.status(err, "delete", obj.GetName())
	}
	done := Deletion{UID: uid, Shown: h.definition.Strategy.ReturnDeletedObject}
	var none T
	if done.Done = any(left) == any(none); done.Done {
		left = obj
	}
	done.Object, err = h.render(left, opts.Form)
	return done, err
}

// DeleteCollection implements Write: a page of the list, one after the other. What goes meanwhile by itself isn't told.
func (h *virtualHandle[T]) DeleteCollection(ctx context.Context, namespace string, opts DeleteOptions, list ListOptions) (*Page, error) {
	if h.provider.Delete == nil || h.provider.List == nil {
		return nil, h.unsupported("deletecollection")
	}
	items, all, err := h.items(ctx, namespace, list)
	if err != nil {
		return nil, err
	}
	if limit := int(list.Limit); limit > 0 && len(items) > limit {
		items = items[:limit]
	}
	deleted := items[:0:0]
	for _, obj := range items {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		_, err := h.remove(ctx, obj, opts)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, err
		default:
			deleted = append(deleted, obj)
		}
	}
	return h.page(deleted, all.ResourceVersion, 0, true, opts.Form)
}

// verbs are those that are served.
func (p *Provider[T]) verbs() []string {
	writes, deletes := p.Update != nil && p.Get != nil, p.Delete != nil && p.Get != nil
	verbs := []string{}
	for _, v := range []struct {
		name string
		has  bool
	}{
		{"create", p.Create != nil}, {"delete", deletes}, {"deletecollection", p.Delete != nil && p.List != nil}, {"get", p.Get != nil},
		{"list", p.List != nil}, {"patch", writes}, {"update", writes}, {"watch", p.Watch != nil},
	} {
		if v.has {
			verbs = append(verbs, v.name)
		}
	}
	return verbs
}

// check tells what a provider lacks for what it has.
func (p *Provider[T]) check() error {
	switch {
	case p.Update != nil && p.Get == nil:
		return fmt.Errorf("the Provider has Update and no Get, of which it needs the object as it is")
	case p.Delete != nil && p.Get == nil && p.List == nil:
		return fmt.Errorf("the Provider has Delete and no Get, of which it needs the object as it is")
	}
	return nil
}
