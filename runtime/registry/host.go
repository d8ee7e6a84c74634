package registry

import (
	"context"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/subresource"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func (h *handle[T]) host() subresource.Host[T] {
	return subresource.Host[T]{
		Info: h.info, Object: h.object, Writer: hostWriter[T]{h}, Schemas: h.schemas, LogOwnership: h.logOwnership,
	}
}

func (h *handle[T]) object(ctx context.Context, namespace, name, resourceVersion string) (none T, err error) {
	rendition, err := h.Get(ctx, namespace, name, resourceVersion, h.store.Form())
	if err != nil {
		return none, err
	}
	return h.store.Object(rendition)
}

// hostWriter is the subresource.Writer of a stored kind.
type hostWriter[T api.Object] struct{ *handle[T] }

func (h hostWriter[T]) Act(
	ctx context.Context, t subresource.Target, opts api.WriteOptions, do func(obj T) (api.Rendition, error),
) (api.Result, error) {
	r, err := h.updateRequest("update", t.Namespace, t.Name, "", t.Version, opts)
	if err != nil {
		return api.Result{}, err
	}
	r.scope = h.scopes.action.named(t.Subresource)
	r.proposal = &changed[T]{change: func(_ context.Context, a *attempt[T], obj T) error {
		answer, err := do(obj)
		a.ahead = renderedAhead{answer: answer, revision: anyRevision, made: err == nil}
		return err
	}}
	result, err := h.update(ctx, r)
	result.Created = true
	return result, err
}

func (h hostWriter[T]) Change(
	ctx context.Context, t subresource.Target, opts api.WriteOptions, c subresource.Change[T],
) (api.Result, error) {
	r, err := h.updateRequest("update", t.Namespace, t.Name, "", t.Version, opts)
	if err != nil {
		return api.Result{}, err
	}
	r.scope, r.ownership = h.scopes.object.named(t.Subresource), merged
	r.proposal = &changed[T]{change: func(_ context.Context, a *attempt[T], obj T) error {
		warnings, err := c.Change(obj)
		a.addWarnings(warnings)
		return err
	}}
	r.render = func(data []byte, revision int64, form api.Form) (api.Rendition, error) {
		obj, err := h.store.Decode(data, revision)
		if err != nil {
			return api.Rendition{}, err
		}
		return c.Show(obj, form)
	}
	return h.update(ctx, r)
}

func (h hostWriter[T]) Remove(
	ctx context.Context, t subresource.Target, opts api.DeleteOptions, consent func(T, *api.DeleteOptions) error,
) (api.Deletion, error) {
	if _, err := h.ServedVersion(t.Version); err != nil {
		return api.Deletion{}, internal(err)
	}
	opts.Form = h.store.Form() // nobody sees this answer
	return h.delete(ctx, deletionOf(t.Namespace, t.Name, opts, consent), nil)
}

func (h hostWriter[T]) ServedVersion(name string) (schema.GroupVersion, error) {
	v, err := h.versions.Lookup(name)
	if err != nil {
		return schema.GroupVersion{}, err
	}
	return v.GVK.GroupVersion(), nil
}
