package registry

import (
	"context"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/metadata"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/rendition"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// maxClientUpdates bounds how often an update is tried again after a conflict.
const maxClientUpdates = 20

// Reachable returns a reach.Objects for each open resource.
func Reachable(handles []Handle) []any {
	var all []any
	for _, h := range handles {
		if r, ok := h.(interface{ objectClient() any }); ok {
			all = append(all, r.objectClient())
		}
	}
	return all
}

func (h *handle[T]) objectClient() any {
	return objectClient[T]{h, h.versions, h.StoredForm()}
}

func (h *providerHandle[T]) objectClient() any {
	return objectClient[T]{h, h.versions, api.Form{Version: h.definition.Storage, Shape: api.Whole}}
}

// objectClient is a reach.Objects: a client of a handle, in the storage version.
type objectClient[T api.Object] struct {
	handle   Handle
	versions *codec.Versions[T]
	form     api.Form
}

func (r objectClient[T]) object(rendered api.Rendition) (T, error) {
	obj, err := r.versions.Decode(rendition.Whole(rendered))
	if err != nil {
		err = apierrors.NewInternalError(err)
	}
	return obj, err
}

func (r objectClient[T]) answer(result api.Result, err error) (none T, _ error) {
	if err != nil {
		return none, err
	}
	return r.object(result.Object)
}

func (r objectClient[T]) body(obj T) (api.Body, error) {
	data, err := r.versions.Encode(obj)
	if err != nil {
		err = apierrors.NewInternalError(err)
	}
	return api.Body{Version: r.form.Version, Data: data, Validation: metav1.FieldValidationIgnore}, err
}

func (r objectClient[T]) options(ctx context.Context, how reach.Write) api.WriteOptions {
	return api.WriteOptions{DryRun: reach.IsDryRun(ctx), FieldManager: how.Manager, Form: r.form}
}

func (r objectClient[T]) Get(ctx context.Context, namespace, name string) (none T, err error) {
	rendition, err := r.handle.Get(ctx, namespace, name, "", r.form)
	if err != nil {
		return none, err
	}
	return r.object(rendition)
}

func (r objectClient[T]) List(ctx context.Context, namespace string, selector labels.Selector) ([]T, error) {
	page, err := r.handle.List(ctx, namespace, api.ListOptions{Selection: api.Selection{Labels: selector}}, r.form)
	if err != nil {
		return nil, err
	}
	defer page.Close()
	all := make([]T, 0, page.Len)
	for rendition := range page.Items {
		obj, err := r.object(rendition)
		if err != nil {
			return nil, err
		}
		all = append(all, obj)
	}
	return all, nil
}

func (r objectClient[T]) Create(ctx context.Context, obj T, how reach.Write) (none T, err error) {
	body, err := r.body(obj)
	if err != nil {
		return none, err
	}
	return r.answer(r.handle.Create(ctx, obj.GetNamespace(), body, r.options(ctx, how)))
}

func (r objectClient[T]) Update(
	ctx context.Context, namespace, name string, how reach.Write, change func(obj T) error,
) (T, error) {
	for attempt := 1; ; attempt++ {
		obj, err := r.Get(ctx, namespace, name)
		if err != nil {
			return obj, err
		}
		if err := change(obj); err != nil {
			return obj, err
		}
		obj, err = r.replace(ctx, namespace, name, how, obj)
		if !apierrors.IsConflict(err) || attempt == maxClientUpdates {
			return obj, err
		}
	}
}

func (r objectClient[T]) replace(
	ctx context.Context, namespace, name string, how reach.Write, obj T,
) (none T, err error) {
	body, err := r.body(obj)
	if err != nil {
		return none, err
	}
	return r.answer(r.handle.Update(ctx, namespace, name, how.Subresource, body, r.options(ctx, how)))
}

func (r objectClient[T]) Delete(ctx context.Context, namespace, name string, options metav1.DeleteOptions) error {
	var how api.DeleteOptions
	how.Form = r.form
	how.DryRun = reach.IsDryRun(ctx) || len(options.DryRun) > 0
	if err := metadata.SetDeleteOptions(&how, &options); err != nil {
		return err
	}
	_, err := r.handle.Delete(ctx, namespace, name, how)
	return err
}
