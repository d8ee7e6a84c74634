package registry

import (
	"context"
	"errors"

	"apigen.dev/runtime/internal/state/store"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// authorize is the step that asks the strategy whether the client may write the proposed object. It follows mutating
// admission, since what that adds needs permission, too. An error without a status of its own is 403.
func (k *kind[T]) authorize(ctx context.Context, a *attempt[T]) error {
	err := k.permit(ctx, a)
	var status apierrors.APIStatus
	switch {
	case err == nil || errors.As(err, &status):
		return err
	case ctx.Err() != nil:
		return store.ToStatus(err, k.gr, a.verb, a.obj.GetName())
	}
	return apierrors.NewForbidden(k.gr, a.obj.GetName(), err)
}

func (k *kind[T]) permit(ctx context.Context, a *attempt[T]) error {
	switch strategy := &k.definition.Strategy; {
	case a.old.Exists && strategy.AuthorizeUpdate != nil:
		return strategy.AuthorizeUpdate(ctx, a.obj, a.old.Object)
	case !a.old.Exists && strategy.AuthorizeCreate != nil:
		return strategy.AuthorizeCreate(ctx, a.obj)
	}
	return nil
}

// authorizeCreation is the step that asks whether the user may create the object, if the request is not a creation and
// the object doesn't exist.
func (*kind[T]) authorizeCreation(_ context.Context, a *attempt[T]) error {
	if a.verb != updateVerb || a.operation() != createOperation || a.options.MayCreate == nil {
		return nil
	}
	return a.options.MayCreate()
}
