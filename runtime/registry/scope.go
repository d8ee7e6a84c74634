package registry

import (
	"context"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// scope is the part of an object that a write may change. The zero value is the object without its subresources.
type scope[T api.Object] struct {
	// name is the subresource by which validation rules and field managers know the scope; "" is the object.
	name string
	// part is the subset of the fields that has a path of its own, like status; nil for other scopes.
	part *Subresource[T]
	// action tells that the write may change any field that an update may change.
	action bool
}

// counted tells whether metadata.generation counts the change: a status is no part of the desired state.
func (s *scope[T]) counted() bool { return s.part == nil }

func (k *kind[T]) scope(subresource string) (scope[T], error) {
	if subresource == "" {
		return scope[T]{}, nil
	}
	for i := range k.definition.Subresources {
		if s := &k.definition.Subresources[i]; s.Name == subresource {
			return scope[T]{name: s.Name, part: s}, nil
		}
	}
	return scope[T]{}, apierrors.NewGenericServerResponse(404, "", schema.GroupResource{}, "", "", 0, true)
}

// prepare is the step that reverts the changes of the new object outside the scope, and lets the strategy prepare it.
func (k *kind[T]) prepare(ctx context.Context, a *attempt[T]) error {
	strategy := &k.definition.Strategy
	if part := a.scope.part; part != nil {
		obj := a.old.Object.DeepCopyObject().(T)
		part.Copy(a.obj, obj)
		obj.SetManagedFields(a.obj.GetManagedFields())
		a.obj = obj
		return nil
	}
	if a.scope.action {
		return nil
	}
	for i := range k.definition.Subresources {
		if s := &k.definition.Subresources[i]; a.old.Exists {
			s.Copy(a.old.Object, a.obj)
		} else {
			s.Reset(a.obj)
		}
	}
	switch {
	case a.old.Exists && strategy.PrepareForUpdate != nil:
		k.trackPreparation(a, func() { strategy.PrepareForUpdate(ctx, a.obj, a.old.Object) })
	case !a.old.Exists && strategy.PrepareForCreate != nil:
		k.trackPreparation(a, func() { strategy.PrepareForCreate(ctx, a.obj) })
	}
	return nil
}

// validate is the step that refuses a new object with faults. It doesn't call ValidateUpdate for an action, which may
// set fields that are immutable for updates, as a binding does.
func (k *kind[T]) validate(ctx context.Context, a *attempt[T]) (err error) {
	var errs field.ErrorList
	validateChange := k.definition.Strategy.ValidateUpdate
	if part := a.scope.part; part != nil {
		errs, err = a.validateRules(ctx)
		validateChange = part.Validate
	} else {
		errs, err = k.validateObject(ctx, a)
	}
	if err != nil {
		return internal(err)
	}
	if validateChange != nil && a.old.Exists && !a.scope.action {
		errs = append(errs, validateChange(ctx, a.obj, a.old.Object)...)
	}
	return codec.Invalid(k.gk, a.obj.GetName(), errs)
}

// warn is the step that asks the strategy for warnings.
func (k *kind[T]) warn(ctx context.Context, a *attempt[T]) error {
	warnings := k.definition.Strategy.Warnings
	if warnings == nil || a.scope.part != nil {
		return nil
	}
	var old T
	if a.old.Exists {
		old = a.old.Object
	}
	a.addWarnings(warnings(ctx, a.obj, old))
	return nil
}

// canonicalize is the step that brings a valid object into its canonical form.
func (k *kind[T]) canonicalize(_ context.Context, a *attempt[T]) error {
	if canonicalize := k.definition.Strategy.Canonicalize; canonicalize != nil {
		canonicalize(a.obj)
	}
	return nil
}

func (k *kind[T]) plan(ctx context.Context, a *attempt[T]) error { return k.end.plan(ctx, a) }
