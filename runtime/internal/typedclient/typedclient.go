// Package typedclient reads and writes the objects of an open resource as Go values, for package reach: a client of the
// resource, in the storage version.
//
// It may know packages api, metadata, reach, rendition and verb.
package typedclient

import (
	"context"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/metadata"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/reach"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxUpdates bounds how often an update is tried again after a conflict.
const maxUpdates = 20

// Resource is an open resource, as far as its objects are reached: a registry.Handle.
type Resource interface {
	Get(ctx context.Context, namespace, name, resourceVersion string, form verb.Form) (verb.Rendition, error)
	List(ctx context.Context, namespace string, opts verb.ListOptions, form verb.Form) (*verb.Page, error)
	Watch(ctx context.Context, namespace string, opts api.WatchOptions, form verb.Form) (verb.Watch, error)
	Create(ctx context.Context, namespace string, body verb.Body, opts verb.WriteOptions) (verb.Result, error)
	Update(ctx context.Context, namespace, name, subresource string, body verb.Body,
		opts verb.WriteOptions) (verb.Result, error)
	Patch(ctx context.Context, namespace, name, subresource string, kind verb.PatchType, body verb.Body,
		opts verb.WriteOptions) (verb.Result, error)
	Delete(ctx context.Context, namespace, name string, opts verb.DeleteOptions) (verb.Deletion, error)
}

// Codec decodes and encodes objects in the version of a Client's Form: a *codec.Versions.
type Codec[T api.Object] interface {
	Decode(data []byte) (T, error)
	Encode(obj T) ([]byte, error)
}

// Client is a reach.Objects.
type Client[T api.Object] struct {
	Resource Resource
	Versions Codec[T]
	// New returns an empty object.
	New func() T
	// Form is that in which the client reads: of the storage version.
	Form verb.Form
	// Stored reports whether the objects are stored, so that a watch can begin with all of them and end these with a
	// bookmark.
	Stored bool
	// Change writes what a function makes of the present state of an object, and returns the updated object. It is what
	// Update does, but for encoding and decoding the object on the way; nil leaves it to Update.
	Change func(ctx context.Context, namespace, name, subresource string, opts verb.WriteOptions,
		change func(obj T) error) (T, error)
}

func (r Client[T]) object(rendered verb.Rendition) (T, error) {
	obj, err := r.Versions.Decode(rendition.Whole(rendered))
	if err != nil {
		err = apierrors.NewInternalError(err)
	}
	return obj, err
}

func (r Client[T]) answer(result verb.Result, err error) (none T, _ error) {
	if err != nil {
		return none, err
	}
	return r.object(result.Object)
}

func (r Client[T]) body(obj T) (verb.Body, error) {
	data, err := r.Versions.Encode(obj)
	if err != nil {
		err = apierrors.NewInternalError(err)
	}
	return verb.Body{Version: r.Form.Version, Data: data, Validation: metav1.FieldValidationIgnore}, err
}

func (r Client[T]) options(ctx context.Context, how reach.Write) verb.WriteOptions {
	return verb.WriteOptions{DryRun: reach.IsDryRun(ctx), FieldManager: how.Manager, Form: r.Form}
}

// Get implements reach.Objects.
func (r Client[T]) Get(ctx context.Context, namespace, name string) (none T, err error) {
	rendition, err := r.Resource.Get(ctx, namespace, name, "", r.Form)
	if err != nil {
		return none, err
	}
	return r.object(rendition)
}

// List implements reach.Objects.
func (r Client[T]) List(ctx context.Context, namespace string, selector labels.Selector) ([]T, error) {
	page, err := r.Resource.List(ctx, namespace, verb.ListOptions{Selection: api.Selection{Labels: selector}}, r.Form)
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

// Create implements reach.Objects.
func (r Client[T]) Create(ctx context.Context, obj T, how reach.Write) (none T, err error) {
	body, err := r.body(obj)
	if err != nil {
		return none, err
	}
	return r.answer(r.Resource.Create(ctx, obj.GetNamespace(), body, r.options(ctx, how)))
}

// Update implements reach.Objects.
func (r Client[T]) Update(
	ctx context.Context, namespace, name string, how reach.Write, change func(obj T) error,
) (T, error) {
	if r.Change != nil {
		return r.Change(ctx, namespace, name, how.Subresource, r.options(ctx, how), change)
	}
	for attempt := 1; ; attempt++ {
		obj, err := r.Get(ctx, namespace, name)
		if err != nil {
			return obj, err
		}
		if err := change(obj); err != nil {
			return obj, err
		}
		obj, err = r.replace(ctx, namespace, name, how, obj)
		if !apierrors.IsConflict(err) || attempt == maxUpdates {
			return obj, err
		}
	}
}

func (r Client[T]) replace(
	ctx context.Context, namespace, name string, how reach.Write, obj T,
) (none T, err error) {
	body, err := r.body(obj)
	if err != nil {
		return none, err
	}
	return r.answer(r.Resource.Update(ctx, namespace, name, how.Subresource, body, r.options(ctx, how)))
}

// Apply is a server-side apply that takes fields over from their owners, of a configuration in the storage version and
// in JSON. It fails with an apierrors.NewNotFound if there is no such object.
func (r Client[T]) Apply(
	ctx context.Context, namespace, name string, how reach.Write, configuration []byte,
) (T, error) {
	opts := r.options(ctx, how)
	opts.Force = true
	opts.MayCreate = func() error { return apierrors.NewNotFound(schema.GroupResource{}, name) }
	body := verb.Body{Version: r.Form.Version, Data: configuration, Validation: metav1.FieldValidationIgnore}
	return r.answer(r.Resource.Patch(ctx, namespace, name, how.Subresource, verb.ApplyPatch, body, opts))
}

// Delete implements reach.Objects.
func (r Client[T]) Delete(ctx context.Context, namespace, name string, options metav1.DeleteOptions) error {
	var how verb.DeleteOptions
	how.Form = r.Form
	how.DryRun = reach.IsDryRun(ctx) || len(options.DryRun) > 0
	if err := metadata.SetDeleteOptions(&how, &options); err != nil {
		return err
	}
	_, err := r.Resource.Delete(ctx, namespace, name, how)
	return err
}
