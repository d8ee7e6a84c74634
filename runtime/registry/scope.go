package registry

import (
	"context"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// scope is what a write covers.
type scope[T api.Object] interface {
	// subresource is its name, by which validation rules and field managers go; "" is the object itself.
	subresource() string
	// prepare restricts the new object to what is covered, and lets the strategy prepare it.
	prepare(ctx context.Context, k *kind[T], a *attempt[T])
	// validate returns the faults of the new object; an error is one of conversion.
	validate(ctx context.Context, k *kind[T], a *attempt[T]) (field.ErrorList, error)
	// warn returns the strategy's warnings.
	warn(ctx context.Context, k *kind[T], a *attempt[T]) []string
	// counted tells whether metadata.generation counts the change.
	counted() bool
}

// scope finds what a subresource of the definition covers; "" is the whole object.
func (k *kind[T]) scope(subresource string) (scope[T], error) {
	if subresource == "" {
		return wholeScope[T]{}, nil
	}
	for i := range k.definition.Subresources {
		if s := &k.definition.Subresources[i]; s.Name == subresource {
			return partScope[T]{s}, nil
		}
	}
	return nil, apierrors.NewGenericServerResponse(404, "", schema.GroupResource{}, "", "", 0, true)
}

// wholeScope is all of the object but its subresources. It is written directly, or through another kind, a scale.
type wholeScope[T api.Object] struct{ through string }

func (s wholeScope[T]) subresource() string { return s.through }
func (wholeScope[T]) counted() bool         { return true }

func (wholeScope[T]) prepare(ctx context.Context, k *kind[T], a *attempt[T]) {
	strategy := &k.definition.Strategy
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
}

func (wholeScope[T]) validate(ctx context.Context, k *kind[T], a *attempt[T]) (field.ErrorList, error) {
	errs, err := k.validateObject(ctx, a)
	if validate := k.definition.Strategy.ValidateUpdate; err == nil && validate != nil && a.old.Exists {
		errs = append(errs, validate(ctx, a.obj, a.old.Object)...)
	}
	return errs, err
}

func (wholeScope[T]) warn(ctx context.Context, k *kind[T], a *attempt[T]) []string {
	return k.strategyWarnings(ctx, a)
}

// partScope is a subset of the object's fields that has a path of its own: status.
type partScope[T api.Object] struct{ *Subresource[T] }

func (s partScope[T]) subresource() string { return s.Name }

// counted implements scope: what is written through a part of the object is no change of what it is to be.
func (partScope[T]) counted() bool { return false }

// prepare takes what the subresource covers, and managedFields, from the new object, and everything else from the old.
func (s partScope[T]) prepare(_ context.Context, _ *kind[T], a *attempt[T]) {
	obj := a.old.Object.DeepCopyObject().(T)
	s.Copy(a.obj, obj)
	obj.SetManagedFields(a.obj.GetManagedFields())
	a.obj = obj
}

func (s partScope[T]) validate(ctx context.Context, _ *kind[T], a *attempt[T]) (field.ErrorList, error) {
	errs, err := a.validateRules(ctx)
	if err == nil && s.Validate != nil {
		errs = append(errs, s.Validate(ctx, a.obj, a.old.Object)...)
	}
	return errs, err
}

func (partScope[T]) warn(context.Context, *kind[T], *attempt[T]) []string { return nil }

// actionScope is what a function of the author's changes: any field that an update may change.
type actionScope[T api.Object] struct{ name string }

func (s actionScope[T]) subresource() string                          { return s.name }
func (actionScope[T]) counted() bool                                  { return true }
func (actionScope[T]) prepare(context.Context, *kind[T], *attempt[T]) {}

// validate implements scope. The action stands in the place of ValidateUpdate: a binding may set what an update must
// not change.
func (actionScope[T]) validate(ctx context.Context, k *kind[T], a *attempt[T]) (field.ErrorList, error) {
	return k.validateObject(ctx, a)
}

func (actionScope[T]) warn(ctx context.Context, k *kind[T], a *attempt[T]) []string {
	return k.strategyWarnings(ctx, a)
}

// prepare is the step that lets the strategy prepare the new object.
func (k *kind[T]) prepare(ctx context.Context, a *attempt[T]) error {
	a.scope.prepare(ctx, k, a)
	return nil
}

// validate is the step that refuses a new object with faults.
func (k *kind[T]) validate(ctx context.Context, a *attempt[T]) error {
	errs, err := a.scope.validate(ctx, k, a)
	if err != nil {
		return internal(err)
	}
	return codec.Invalid(k.gk, a.obj.GetName(), errs)
}

// warn is the step that asks the strategy for warnings.
func (k *kind[T]) warn(ctx context.Context, a *attempt[T]) error {
	a.addWarnings(a.scope.warn(ctx, k, a))
	return nil
}

// canonicalize is the step that brings a valid object into its canonical form.
func (k *kind[T]) canonicalize(_ context.Context, a *attempt[T]) error {
	if canonicalize := k.definition.Strategy.Canonicalize; canonicalize != nil {
		canonicalize(a.obj)
	}
	return nil
}

// plan is the step that decides what is written.
func (k *kind[T]) plan(ctx context.Context, a *attempt[T]) error { return k.end.plan(ctx, a) }
