package registry

import (
	"context"

	"apigen.dev/runtime/api"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// host is the handle as extensions see it.
func (h *handle[T]) host() host[T] {
	return host[T]{info: h.info, object: h.object, writer: h, schemas: h.schemas, logOwnership: h.logOwnership}
}

// object reads one object.
func (h *handle[T]) object(ctx context.Context, namespace, name, resourceVersion string) (T, error) {
	rendition, err := h.Get(ctx, namespace, name, resourceVersion, h.store.Form())
	if err != nil {
		var none T
		return none, err
	}
	return h.store.Object(rendition)
}

// act implements hostWriter.
func (h *handle[T]) act(
	ctx context.Context, t hostTarget, opts api.WriteOptions, do func(obj T) (api.Rendition, error),
) (api.Result, error) {
	r, err := h.updateRequest("update", t.namespace, t.name, "", t.version, opts)
	if err != nil {
		return api.Result{}, err
	}
	r.scope = actionScope[T]{t.subresource}
	r.proposal = &changed[T]{change: func(_ context.Context, a *attempt[T], obj T) error {
		answer, err := do(obj)
		a.ahead = renderedAhead{answer: answer, revision: anyRevision, made: err == nil}
		return err
	}}
	result, err := h.update(ctx, r)
	result.Created = true
	return result, err
}

// change implements hostWriter.
func (h *handle[T]) change(ctx context.Context, t hostTarget, opts api.WriteOptions, c hostChange[T]) (api.Result, error) {
	r, err := h.updateRequest("update", t.namespace, t.name, "", t.version, opts)
	if err != nil {
		return api.Result{}, err
	}
	r.scope, r.ownership = wholeScope[T]{through: t.subresource}, merged
	r.proposal = &changed[T]{change: func(_ context.Context, a *attempt[T], obj T) error {
		warnings, err := c.change(obj)
		a.addWarnings(warnings)
		return err
	}}
	r.render = func(data []byte, revision int64, form api.Form) (api.Rendition, error) {
		obj, err := h.store.Decode(data, revision)
		if err != nil {
			return api.Rendition{}, err
		}
		return c.show(obj, form)
	}
	return h.update(ctx, r)
}

// remove implements hostWriter.
func (h *handle[T]) remove(
	ctx context.Context, t hostTarget, opts api.DeleteOptions, consent func(T, *api.DeleteOptions) error,
) (api.Deletion, error) {
	if _, err := h.servedVersion(t.version); err != nil {
		return api.Deletion{}, internal(err)
	}
	opts.Form = h.store.Form() // nobody sees this answer
	return h.delete(ctx, deletionOf(t.namespace, t.name, opts, consent), nil)
}

// servedVersion implements hostWriter.
func (h *handle[T]) servedVersion(name string) (schema.GroupVersion, error) {
	v, err := h.versions.Lookup(name)
	if err != nil {
		return schema.GroupVersion{}, err
	}
	return v.GVK.GroupVersion(), nil
}
