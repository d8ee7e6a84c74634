package registry

import (
	"context"
	"fmt"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/store"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Create implements Write.
func (h *virtualHandle[T]) Create(ctx context.Context, namespace string, body api.Body, opts api.WriteOptions) (api.Result, error) {
	if h.provider.Create == nil {
		return api.Result{}, h.unsupported("create")
	}
	v, err := h.versions.Lookup(body.Version)
	if err != nil {
		return api.Result{}, apierrors.NewInternalError(err)
	}
	obj, warnings, err := codec.DecodeBody(v, h.definition.New(), body)
	if err == nil {
		err = place(obj, h.info.Scope, namespace)
	}
	if err != nil {
		return api.Result{Warnings: warnings}, err
	}
	t := target[T]{version: v, namespace: namespace}
	return named(h.info.GroupResource(), obj, warnings, func(obj T) (api.Result, error) { return h.create(ctx, &t, obj, warnings, opts) })
}

// create checks an object in its place, and has the provider create it. What it could not show is refused before; what the
// provider makes of it is known only afterwards.
func (h *virtualHandle[T]) create(ctx context.Context, t *target[T], obj T, warnings []string, opts api.WriteOptions) (api.Result, error) {
	if err := h.own(t, obj, &store.State[T]{}, opts.FieldManager); err != nil {
		return api.Result{Warnings: warnings}, err
	}
	if err := h.validate(ctx, t.version, obj); err != nil {
		return api.Result{Warnings: warnings}, err
	}
	if warn := h.definition.Strategy.Warnings; warn != nil {
		var none T
		warnings = append(warnings[:len(warnings):len(warnings)], warn(ctx, obj, none)...)
	}
	if _, err := h.render(obj, opts.Form); err != nil {
		return api.Result{Warnings: warnings}, err
	}
	name := obj.GetName()
	obj, err := h.provider.Create(ctx, obj, opts.DryRun)
	if err != nil {
		return api.Result{Warnings: warnings}, h.status(err, "create", name)
	}
	rendition, err := h.render(obj, opts.Form)
	return api.Result{Object: rendition, Created: true, Warnings: warnings}, err
}

// own notes in obj who set what, where there will be updates. Where that can't be found out, what was known stays.
func (h *virtualHandle[T]) own(t *target[T], obj T, current *store.State[T], manager string) error {
	if h.provider.Update == nil || t.owned {
		return nil
	}
	owners, err := h.owners()
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	_ = owners.own(t, obj, current, manager)
	return nil
}

func (h *virtualHandle[T]) validate(ctx context.Context, v *codec.Served[T], obj T) error {
	var errs field.ErrorList
	rules, err := v.Validate(ctx, operation.Operation{Type: operation.Create}, obj, nil)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	errs = append(errs, rules...)
	if validate := h.definition.Strategy.Validate; validate != nil {
		errs = append(errs, validate(ctx, obj)...)
	}
	return invalidObject(schema.GroupKind{Group: h.info.Group, Kind: h.info.Names.Kind}, obj.GetName(), errs)
}

// Update implements Write.
func (h *virtualHandle[T]) Update(ctx context.Context, namespace, name, subresource string, body api.Body, opts api.WriteOptions) (api.Result, error) {
	t, err := h.writable("update", namespace, name, subresource, body.Version)
	if err != nil {
		return api.Result{}, err
	}
	old, err := h.object(ctx, namespace, name)
	if err != nil {
		return api.Result{}, err
	}
	obj, warnings, err := codec.DecodeBody(t.version, h.definition.New(), body)
	if err != nil {
		return api.Result{}, err
	}
	return h.replace(ctx, &t, obj, old, warnings, opts)
}

// writable is the target of an update, where there are updates.
func (h *virtualHandle[T]) writable(verb, namespace, name, subresource, version string) (t target[T], err error) {
	if h.provider.Update == nil {
		return t, h.unsupported(verb)
	}
	if subresource != "" {
		return t, apierrors.NewGenericServerResponse(404, "", schema.GroupResource{}, "", "", 0, true)
	}
	t = target[T]{namespace: namespace, name: name}
	if t.version, err = h.versions.Lookup(version); err != nil {
		return t, apierrors.NewInternalError(err)
	}
	return t, nil
}

// replace checks what is to be in the place of old, and has the provider put it there.
func (h *virtualHandle[T]) replace(ctx context.Context, t *target[T], obj, old T, warnings []string, opts api.WriteOptions) (api.Result, error) {
	failed := api.Result{Warnings: warnings}
	if err := place(obj, h.info.Scope, t.namespace); err != nil {
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
		return failed, apierrors.NewConflict(gr, name, fmt.Errorf("%s", store.OptimisticLock))
	}
	if err := h.own(t, obj, &store.State[T]{Object: old, Exists: true}, opts.FieldManager); err != nil {
		return failed, err
	}
	inherit(obj, old)
	if err := h.validateUpdate(ctx, t.version, obj, old); err != nil {
		return failed, err
	}
	if warn := h.definition.Strategy.Warnings; warn != nil {
		warnings = append(warnings[:len(warnings):len(warnings)], warn(ctx, obj, old)...)
	}
	if _, err := h.render(obj, opts.Form); err != nil {
		return api.Result{Warnings: warnings}, err
	}
	obj, err := h.provider.Update(ctx, obj, old, opts.DryRun)
	if err != nil {
		return api.Result{Warnings: warnings}, h.status(err, "update", name)
	}
	rendition, err := h.render(obj, opts.Form)
	return api.Result{Object: rendition, Warnings: warnings}, err
}

func (h *virtualHandle[T]) validateUpdate(ctx context.Context, v *codec.Served[T], obj, old T) error {
	errs := validation.ValidateObjectMetaAccessorUpdate(obj, old, metadataPath)
	rules, err := v.Validate(ctx, operation.Operation{Type: operation.Update}, obj, &old)
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
	return invalidObject(schema.GroupKind{Group: h.info.Group, Kind: h.info.Names.Kind}, obj.GetName(), errs)
}

// Delete implements Write.
func (h *virtualHandle[T]) Delete(ctx context.Context, namespace, name string, opts api.DeleteOptions) (api.Deletion, error) {
	if h.provider.Delete == nil {
		return api.Deletion{}, h.unsupported("delete")
	}
	obj, err := h.object(ctx, namespace, name)
	if err != nil {
		return api.Deletion{}, err
	}
	var shown api.Rendition
	if h.definition.Strategy.ReturnDeletedObject {
		if shown, err = h.render(obj, opts.Form); err != nil {
			return api.Deletion{}, err
		}
	}
	done, left, err := h.remove(ctx, obj, opts)
	switch {
	case err != nil:
	case !done.Done:
		done.Object, err = h.render(left, opts.Form)
	default:
		done.Object = shown
	}
	return done, err
}

// remove deletes an object that was read. Where it isn't done, left is what is there.
func (h *virtualHandle[T]) remove(ctx context.Context, obj T, opts api.DeleteOptions) (done api.Deletion, left T, err error) {
	gr := schema.GroupResource{Group: h.info.Group, Resource: h.info.Names.Kind}
	if err := store.CheckPreconditions(gr, obj.GetName(), opts.Preconditions, obj); err != nil {
		return done, left, err
	}
	done.UID, done.Shown = string(obj.GetUID()), h.definition.Strategy.ReturnDeletedObject
	name := obj.GetName()
	if left, err = h.provider.Delete(ctx, obj, asMeta(opts)); err != nil {
		return api.Deletion{}, left, h.status(err, "delete", name)
	}
	var none T
	done.Done = any(left) == any(none)
	return done, left, nil
}

// DeleteCollection implements Write: a page of the list, one after the other, each shown as it was listed; what can't be
// shown stays. What goes meanwhile by itself isn't told.
func (h *virtualHandle[T]) DeleteCollection(ctx context.Context, namespace string, opts api.DeleteOptions, list api.ListOptions) (*api.Page, error) {
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
	var deleted []api.Rendition
	for _, obj := range items {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		shown, err := h.render(obj, opts.Form)
		if err != nil {
			return nil, err
		}
		_, _, err = h.remove(ctx, obj, opts)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, err
		default:
			deleted = append(deleted, shown)
		}
	}
	return pageOf(deleted, all.ResourceVersion), nil
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
