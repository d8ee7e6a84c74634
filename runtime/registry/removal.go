package registry

import (
	"context"
	"errors"
	"slices"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/store"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Removal is a subresource that a kind of its own, B, is posted to, and that deletes the object: an eviction.
type Removal[T, B api.Object] struct {
	Name string
	Body codec.Kind[B]
	// Do decides whether the object is deleted, and how: by its options, or, where they are nil, not at all. It is given
	// copies. The object is deleted as it was then: where it was changed meanwhile, Do is called again with the newer one.
	// Finalizers, graces and policies count as for any deletion.
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
	h := a.handle
	t, err := h.target(namespace, name, "", body.Version)
	if err != nil {
		return api.Result{}, err
	}
	in, warnings, err := a.read(ctx, body, t)
	if err != nil {
		return api.Result{Warnings: warnings}, err
	}
	asked := api.DeleteOptions{WriteOptions: opts}
	asked.Form = h.store.Form()
	_, err = h.delete(ctx, t.key, name, asked, func(obj T, how *api.DeleteOptions) error {
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
		if err := takeOptions(how, options); err != nil {
			return err
		}
		return store.CheckPreconditions(schema.GroupResource{Group: h.kind.Group, Resource: h.kind.Kind}, obj.GetName(), how.Preconditions, obj)
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

// takeOptions makes options of metav1 those of a deletion.
func takeOptions(o *api.DeleteOptions, options *metav1.DeleteOptions) error {
	if errs := metavalidation.ValidateDeleteOptions(options); len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", errs)
	}
	o.Preconditions, o.GracePeriodSeconds, o.Propagation = options.Preconditions, options.GracePeriodSeconds, options.PropagationPolicy
	//nolint:staticcheck // an eviction may bring the deprecated option
	if orphan := options.OrphanDependents; orphan != nil {
		policy := metav1.DeletePropagationBackground
		if *orphan {
			policy = metav1.DeletePropagationOrphan
		}
		o.Propagation = &policy
	}
	return nil
}
