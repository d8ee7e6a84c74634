package registry

import (
	"bytes"
	"context"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/store"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// maxProviderAttempts is how often a write is tried while the provider says that somebody was faster.
const maxProviderAttempts = 5

// providerEnd is the end of the pipeline in a provider's functions.
type providerEnd[T api.Object] struct {
	kind     *kind[T]
	provider Provider[T]
}

// status maps an error of the provider's.
func (e *providerEnd[T]) status(err error, verb, name string) error {
	return store.ToStatus(err, e.kind.gr, verb, name)
}

// get reads an object.
func (e *providerEnd[T]) get(ctx context.Context, namespace, name string) (T, error) {
	var none T
	if err := e.kind.checkVerb("get"); err != nil {
		return none, err
	}
	if err := e.kind.checkPath(namespace, name); err != nil {
		return none, err
	}
	obj, err := e.provider.Get(ctx, namespace, name)
	if err != nil {
		return none, e.status(err, "get", name)
	}
	if isAbsent(obj) {
		return none, apierrors.NewNotFound(e.kind.gr, name)
	}
	return obj, nil
}

// render writes an object in a form.
func (e *providerEnd[T]) render(obj T, form api.Form) (api.Rendition, error) {
	v, err := e.kind.versions.Lookup(form.Version)
	if err != nil {
		return api.Rendition{}, internal(err)
	}
	return codec.RenderObject(v, obj, form)
}

// plan implements end. The provider isn't asked for an apply that changes nothing.
func (e *providerEnd[T]) plan(_ context.Context, a *attempt[T]) error {
	switch {
	case a.operation() == deleteOperation:
		a.plan.Verb, a.done.Done = store.Remove, true
	case a.ownership == merged && a.old.Exists && e.unchanged(a.old.Object, a.obj):
		a.plan.Verb = store.Nothing
	}
	return nil
}

// unchanged tells whether two objects differ in nothing but the times in managedFields.
func (e *providerEnd[T]) unchanged(a, b T) bool {
	x, err := e.kind.versions.Encode(a)
	if err != nil {
		return false
	}
	y, err := e.kind.versions.Encode(b)
	return err == nil && (bytes.Equal(x, y) || sameButTimes(x, y, a.GetManagedFields(), b.GetManagedFields()))
}

// renderAhead implements end: what can't be shown is refused. What the provider makes of it is known only afterwards.
func (e *providerEnd[T]) renderAhead(a *attempt[T]) error {
	if !a.shown() {
		return nil
	}
	r, err := e.render(a.obj, a.options.Form)
	a.ahead = renderedAhead{answer: r, revision: anyRevision, made: err == nil}
	return err
}

// create implements end.
func (e *providerEnd[T]) create(ctx context.Context, a *attempt[T]) (api.Rendition, error) {
	name := a.obj.GetName()
	obj, err := e.provider.Create(ctx, a.obj, a.options.DryRun)
	if err != nil {
		return api.Rendition{}, e.status(err, createVerb, name)
	}
	return e.render(obj, a.options.Form)
}

// modify implements end: it has the provider do what is decided on the object as it is.
func (e *providerEnd[T]) modify(
	ctx context.Context, r *request[T], found *store.State[T], decide decide[T],
) (api.Rendition, error) {
	for n := 1; ; n++ {
		var missing error
		if found == nil {
			obj, err := e.get(ctx, r.namespace, r.name)
			if missing = err; err != nil && !apierrors.IsNotFound(err) {
				return api.Rendition{}, err
			}
			found = newProviderState(obj)
		}
		a, err := decide(found)
		switch {
		case missing != nil && apierrors.IsNotFound(err):
			return api.Rendition{}, missing
		case err != nil:
			return api.Rendition{}, err
		}
		answer, err := e.write(ctx, a)
		faster := apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) && !found.Exists
		if !faster || n == maxProviderAttempts || e.provider.Get == nil {
			return answer, err
		}
		found = nil
	}
}

// newProviderState is the state of an object that the provider returned; nil is absent.
func newProviderState[T api.Object](obj T) *store.State[T] {
	s := &store.State[T]{Object: obj, Exists: !isAbsent(obj)}
	if s.Exists {
		// A version that is no number equals no other number.
		s.Revision, _ = store.ParseVersion(obj.GetResourceVersion())
	}
	return s
}

// write does what an attempt plans, and returns the answer.
func (e *providerEnd[T]) write(ctx context.Context, a *attempt[T]) (answer api.Rendition, err error) {
	obj, dryRun := a.obj, a.options.DryRun
	switch {
	case a.plan.Verb == store.Nothing:
		return e.render(a.old.Object, a.options.Form)
	case a.plan.Verb == store.Remove:
		return e.remove(ctx, a)
	case !a.old.Exists:
		return e.create(ctx, a)
	}
	if obj, err = e.provider.Update(ctx, obj, a.old.Object, dryRun); err != nil {
		return answer, e.status(err, updateVerb, a.name)
	}
	return e.render(obj, a.options.Form)
}

// remove has an object deleted. One that is going to be gone only later is the answer.
func (e *providerEnd[T]) remove(ctx context.Context, a *attempt[T]) (api.Rendition, error) {
	left, err := e.provider.Delete(ctx, a.obj, asMeta(*a.deleteOptions))
	if err != nil {
		return api.Rendition{}, e.status(err, deleteVerb, a.name)
	}
	if isAbsent(left) {
		return a.ahead.answer, nil
	}
	a.done.Done = false
	return e.render(left, a.options.Form)
}
