package subresource

import (
	"context"
	"errors"
	"slices"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/metadata"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/store"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Removal is a subresource that a kind of its own, B, is posted to, and that deletes the object: an eviction.
type Removal[T, B api.Object] struct {
	Name string
	Body codec.Kind[B]
	// Do decides whether the object is deleted, and how: by its options, or, where they are nil, not at all. It is
	// given copies. The object is deleted as it was then: where it was changed meanwhile, Do is called again with the
	// newer one. Finalizers, graces and policies count as for any deletion.
	Do func(ctx context.Context, obj T, in B) (*metav1.DeleteOptions, error)
}

// RemovalOf makes the extension, which answers 201 with a Status.
func RemovalOf[T, B api.Object](r Removal[T, B]) Extension[T] {
	return posted(r.Name, r.Body, r.Do != nil, func(a *action[T, B]) createFunc {
		return func(ctx context.Context, namespace, name string, body api.Body, opts api.WriteOptions) (api.Result, error) {
			return a.remove(ctx, namespace, name, body, opts, r.Do)
		}
	})
}

// errNotRemoved ends a deletion that Do doesn't want.
var errNotRemoved = errors.New("the object is not to be deleted")

func (a *action[T, B]) remove(ctx context.Context, namespace, name string, body api.Body, opts api.WriteOptions,
	do func(context.Context, T, B) (*metav1.DeleteOptions, error),
) (api.Result, error) {
	t := a.target(namespace, name, body)
	in, warnings, err := a.read(ctx, body, t)
	if err != nil {
		return api.Result{Warnings: warnings}, err
	}
	_, err = a.host.Writer.Remove(ctx, t, api.DeleteOptions{WriteOptions: opts}, func(obj T, how *api.DeleteOptions) error {
		options, err := do(ctx, obj.DeepCopyObject().(T), in.DeepCopyObject().(B))
		switch {
		case err != nil:
			return err
		case options == nil:
			return errNotRemoved
		}
		if how.DryRun = how.DryRun || slices.Contains(options.DryRun, metav1.DryRunAll); how.DryRun != opts.DryRun {
			return errDryRun
		}
		if err := metadata.SetDeleteOptions(how, options); err != nil {
			return err
		}
		gr := schema.GroupResource{Group: a.host.Info.Group, Resource: a.host.Info.Names.Kind}
		return store.CheckPreconditions(gr, obj.GetName(), how.Preconditions, obj)
	})
	if errors.Is(err, errDryRun) {
		opts.DryRun = true
		return a.remove(reach.DryRun(ctx), namespace, name, body, opts, do)
	}
	if err != nil && !errors.Is(err, errNotRemoved) {
		return api.Result{Warnings: warnings}, err
	}
	answer, err := successRendition(opts.Form.Encoding)
	return api.Result{Object: answer, Warnings: warnings, Created: true}, err
}

// errDryRun begins a deletion again as a dry run.
var errDryRun = errors.New("the deletion is a dry run")
