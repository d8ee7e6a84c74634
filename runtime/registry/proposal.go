package registry

import (
	"context"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/metadata"
	"apigen.dev/runtime/patch"
	"apigen.dev/runtime/rendition"
	"apigen.dev/runtime/store"
)

// proposal makes the object that a client wants.
type proposal[T api.Object] interface {
	// decode reads what doesn't depend on the object as it is: once for a request.
	decode(k *kind[T], a *attempt[T]) error
	// propose sets the attempt's object. It gives the object away.
	propose(ctx context.Context, k *kind[T], a *attempt[T]) error
}

// decode is the step that reads the body.
func (k *kind[T]) decode(_ context.Context, a *attempt[T]) error { return a.proposal.decode(k, a) }

// propose is the step that makes the new object.
func (k *kind[T]) propose(ctx context.Context, a *attempt[T]) error {
	return a.proposal.propose(ctx, k, a)
}

// sent is an object that the client sent whole.
type sent[T api.Object] struct {
	body api.Body
	obj  T
	// given tells that obj belongs to an attempt: the strategy's functions may have changed it.
	given bool
}

func (s *sent[T]) decode(k *kind[T], a *attempt[T]) (err error) {
	if s.obj, a.warnings, err = codec.DecodeBody(a.version, k.definition.New(), s.body); err != nil {
		return err
	}
	a.obj = s.obj
	if a.verb == updateVerb {
		a.uid = s.obj.GetUID()
	}
	return nil
}

func (s *sent[T]) propose(_ context.Context, k *kind[T], a *attempt[T]) (err error) {
	if a.obj = s.obj; s.given {
		if a.obj, _, err = codec.DecodeBody(a.version, k.definition.New(), s.body); err != nil {
			return err
		}
	}
	s.given = true
	a.addWarnings(metadata.DeduplicateOwners(a.obj, ""))
	return nil
}

// patched is the object as it is, patched in the version of the request.
type patched[T api.Object] struct {
	kind api.PatchType
	body api.Body
	// patch is read when it is first wanted: that there is nothing to patch is said before that a patch is wrong.
	patch  patch.Patch
	strict []error
}

func (*patched[T]) decode(*kind[T], *attempt[T]) error { return nil }

func (p *patched[T]) propose(ctx context.Context, k *kind[T], a *attempt[T]) (err error) {
	if p.patch == nil {
		if p.patch, p.strict, err = codec.NewPatch(a.version, p.kind, p.body); err != nil {
			return err
		}
	}
	object, err := k.encodeFound(a.version, a.old)
	if err != nil {
		return internal(err)
	}
	if object, err = p.patch.Apply(object); err != nil {
		return err
	}
	var warnings []string
	a.obj, warnings, err = codec.DecodePatched(a.version, k.definition.New(), p.patch, object, p.strict, p.body.Validation)
	if err != nil {
		return err
	}
	a.addWarnings(warnings)
	// That the patch took the name is said before that it took the apiVersion.
	if err := k.matchRequest(ctx, a); err != nil {
		return err
	}
	return codec.RequireAPIVersion(p.patch, object)
}

// encodeFound is an object as clients of a version get it.
func (k *kind[T]) encodeFound(v *codec.Served[T], found *store.State[T]) ([]byte, error) {
	if v != k.versions.Storage || found.Data == nil {
		return v.Encode(found.Object)
	}
	stored, err := rendition.New(found.Data, v.Head)
	if err != nil {
		return nil, err
	}
	return rendition.Whole(rendition.Stamp(stored, found.Revision)), nil
}

// applied is what a server-side apply makes of the object as it is, or of none.
type applied[T api.Object] struct {
	body api.Body
}

func (*applied[T]) decode(*kind[T], *attempt[T]) error { return nil }

func (s *applied[T]) propose(_ context.Context, k *kind[T], a *attempt[T]) error {
	managers, err := k.fieldManagers()
	if err != nil {
		return internal(err)
	}
	if a.obj, err = managers.apply(a, s.body); err != nil || a.old.Exists {
		return err
	}
	return refuseUID(k.gr, a.obj, a.name)
}

// changed is the object as it is, changed by a function of the server's.
type changed[T api.Object] struct {
	// change gets an object of its own.
	change func(ctx context.Context, a *attempt[T], obj T) error
}

func (*changed[T]) decode(*kind[T], *attempt[T]) error { return nil }

func (s *changed[T]) propose(ctx context.Context, _ *kind[T], a *attempt[T]) error {
	a.obj = a.old.Object.DeepCopyObject().(T)
	return s.change(ctx, a, a.obj)
}
