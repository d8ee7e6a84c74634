package registry

import (
	"context"
	"slices"

	"apigen.dev/runtime/api"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// scope says what a write may change, and what checks the change.
type scope[T api.Object] struct {
	// name is the subresource by which validation rules and field managers know the scope; "" is the object.
	name string
	// counted reports whether metadata.generation counts the change: a status is not part of the desired state.
	counted bool
	// confine reverts the changes of the new object outside the scope. It may replace the object.
	confine func(ctx context.Context, a *attempt[T]) error
	// validate checks the new object.
	validate func(ctx context.Context, a *attempt[T]) (field.ErrorList, error)
	// validateChange checks the change from old to obj; nil checks nothing.
	validateChange func(ctx context.Context, obj, old T) field.ErrorList
	// warnings returns warnings for the client; nil returns none.
	warnings func(ctx context.Context, obj, old T) []string
}

type scopes[T api.Object] struct {
	// object is the object without its subresources.
	object scope[T]
	// action is the object with its subresources. It doesn't call ValidateUpdate: an action may set fields that are
	// immutable for updates, as a binding does.
	action scope[T]
	// parts are those of the object that have a path of their own, like status.
	parts []scope[T]
}

func (k *kind[T]) newScopes() (s scopes[T]) {
	strategy := &k.definition.Strategy
	s.action = scope[T]{
		counted: true, confine: func(context.Context, *attempt[T]) error { return nil }, validate: k.validateObject,
		warnings: strategy.Warnings,
	}
	s.object = s.action
	s.object.confine, s.object.validateChange = k.confineToObject, strategy.ValidateUpdate
	for i := range k.definition.Subresources {
		s.parts = append(s.parts, k.scope(&k.definition.Subresources[i]))
	}
	return s
}

// of returns the scope of a write through the path of the object or of one of its parts.
func (s *scopes[T]) of(subresource string) (scope[T], error) {
	if subresource == "" {
		return s.object, nil
	}
	if i := slices.IndexFunc(s.parts, func(p scope[T]) bool { return p.name == subresource }); i >= 0 {
		return s.parts[i], nil
	}
	return scope[T]{}, apierrors.NewGenericServerResponse(404, "", schema.GroupResource{}, "", "", 0, true)
}

// named returns the scope as an extension of a name has it.
func (s scope[T]) named(extension string) scope[T] {
	s.name = extension
	return s
}

// confineToObject reverts or resets what belongs to subresources alone, and lets the strategy prepare the object.
func (k *kind[T]) confineToObject(ctx context.Context, a *attempt[T]) error {
	for i := range k.definition.Subresources {
		switch s := &k.definition.Subresources[i]; {
		case s.Reset == nil || !s.info().In(a.version.GVK.Version):
		case a.old.Exists:
			s.Copy(a.old.Object, a.obj)
			a.version.Form().Merge(a.obj, a.old.Object, s.Name)
		default:
			s.Reset(a.obj)
			a.version.Form().Forget(a.obj, s.Name)
		}
	}
	switch strategy := &k.definition.Strategy; {
	case a.old.Exists && strategy.PrepareForUpdate != nil:
		return k.trackPreparation(ctx, a, func() { strategy.PrepareForUpdate(ctx, a.obj, a.old.Object) })
	case !a.old.Exists && strategy.PrepareForCreate != nil:
		return k.trackPreparation(ctx, a, func() { strategy.PrepareForCreate(ctx, a.obj) })
	}
	return nil
}

// prepare is the step that reverts the changes of the new object outside the scope, and lets the strategy prepare it.
func (k *kind[T]) prepare(ctx context.Context, a *attempt[T]) error {
	return a.scope.confine(ctx, a)
}

// warn is the step that asks the strategy for warnings.
func (k *kind[T]) warn(ctx context.Context, a *attempt[T]) error {
	if a.scope.warnings == nil {
		return nil
	}
	var old T
	if a.old.Exists {
		old = a.old.Object
	}
	a.addWarnings(a.scope.warnings(ctx, a.obj, old))
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
