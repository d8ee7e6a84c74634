package registry

import (
	"bytes"
	"context"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// maxProviderAttempts bounds how often a write is tried again because the provider reports a conflict.
const maxProviderAttempts = 5

type providerEnd[T api.Object] struct {
	kind     *kind[T]
	provider Provider[T]
}

func (e *providerEnd[T]) status(err error, verb, name string) error {
	return store.ToStatus(err, e.kind.gr, verb, name)
}

func (e *providerEnd[T]) get(ctx context.Context, namespace, name string) (none T, _ error) {
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

func (e *providerEnd[T]) render(obj T, form verb.Form) (verb.Rendition, error) {
	v, err := e.kind.versions.Lookup(form.Version)
	if err != nil {
		return verb.Rendition{}, internal(err)
	}
	return v.RenderObject(obj, form)
}

// plan implements end. An apply that changes nothing doesn't call the provider.
func (e *providerEnd[T]) plan(_ context.Context, a *attempt[T]) error {
	switch {
	case a.operation() == deleteOperation:
		a.plan.Verb, a.done.Done = store.Remove, true
	case a.ownership == merged && a.old.Exists && e.unchanged(a.old.Object, a.obj):
		a.plan.Verb = store.Nothing
	}
	return nil
}

func (e *providerEnd[T]) unchanged(a, b T) bool {
	x, y, err := e.kind.encodeBoth(a, b)
	return err == nil && (bytes.Equal(x, y) || sameButTimes(x, y, a.GetManagedFields(), b.GetManagedFields()))
}

// renderAhead implements end. It refuses an object that can't be rendered. It can't check the object that the provider
// will return.
func (e *providerEnd[T]) renderAhead(a *attempt[T]) error {
	if !a.shown() {
		return nil
	}
	r, err := e.render(a.obj, a.options.Form)
	a.ahead = renderedAhead{answer: r, revision: anyRevision, made: err == nil}
	return err
}

func (e *providerEnd[T]) create(ctx context.Context, a *attempt[T]) (verb.Rendition, error) {
	name := a.obj.GetName()
	a.obj.SetSelfLink("") // a provider has Go values, without the zero values that a client sent
	obj, err := e.provider.Create(ctx, a.obj, a.options.DryRun)
	return e.answer(a, obj, e.status(err, createVerb, name))
}

func (e *providerEnd[T]) answer(a *attempt[T], obj T, err error) (verb.Rendition, error) {
	if err != nil {
		return verb.Rendition{}, err
	}
	return e.render(obj, a.options.Form)
}

// modify implements end: it reads the object from the provider, and has the provider do what decide plans.
func (e *providerEnd[T]) modify(
	ctx context.Context, r *request[T], found *store.State[T], decide decide[T],
) (verb.Rendition, error) {
	for n := 1; ; n++ {
		var missing error
		if found == nil {
			obj, err := e.get(ctx, r.namespace, r.name)
			if missing = err; err != nil && !apierrors.IsNotFound(err) {
				return verb.Rendition{}, err
			}
			found = newProviderState(obj)
		}
		a, err := decide(found)
		switch {
		case missing != nil && apierrors.IsNotFound(err):
			return verb.Rendition{}, missing
		case err != nil:
			return verb.Rendition{}, err
		}
		answer, err := e.write(ctx, a)
		faster := apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) && !found.Exists
		if !faster || n == maxProviderAttempts || e.provider.Get == nil {
			return answer, err
		}
		found = nil
	}
}

// newProviderState returns the state of an object that the provider returned; a nil object is absent.
func newProviderState[T api.Object](obj T) *store.State[T] {
	s := &store.State[T]{Object: obj, Exists: !isAbsent(obj)}
	if s.Exists {
		// A resourceVersion that is not a number leaves the revision 0, which equals no other.
		s.Revision, _ = store.ParseVersion(obj.GetResourceVersion())
	}
	return s
}

func (e *providerEnd[T]) write(ctx context.Context, a *attempt[T]) (verb.Rendition, error) {
	switch {
	case a.plan.Verb == store.Nothing:
		return e.render(a.old.Object, a.options.Form)
	case a.plan.Verb == store.Remove:
		return e.remove(ctx, a)
	case !a.old.Exists:
		return e.create(ctx, a)
	}
	a.obj.SetSelfLink("")
	obj, err := e.provider.Update(ctx, a.obj, a.old.Object, a.options.DryRun)
	return e.answer(a, obj, e.status(err, updateVerb, a.name))
}

// remove has the provider delete an object. Where the provider only marks it, the marked object is the answer.
func (e *providerEnd[T]) remove(ctx context.Context, a *attempt[T]) (verb.Rendition, error) {
	left, err := e.provider.Delete(ctx, a.obj, asMeta(*a.deleteOptions))
	if err != nil {
		return verb.Rendition{}, e.status(err, deleteVerb, a.name)
	}
	if isAbsent(left) {
		return a.ahead.answer, nil
	}
	a.done.Done = false
	return e.render(left, a.options.Form)
}
