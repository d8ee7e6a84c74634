package registry

import (
	"context"
	"fmt"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/object/metadata"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

type proposal[T api.Object] interface {
	// propose sets the attempt's object, which belongs to the attempt from then on.
	propose(ctx context.Context, k *kind[T], a *attempt[T]) error
}

// decode is the step that reads an object that the client sent whole. What other bodies mean depends on the stored
// object.
func (k *kind[T]) decode(_ context.Context, a *attempt[T]) error {
	if s, whole := a.proposal.(*sent[T]); whole {
		return s.decode(k, a)
	}
	return nil
}

func (k *kind[T]) propose(ctx context.Context, a *attempt[T]) error {
	return a.proposal.propose(ctx, k, a)
}

// sent is an object that the client sent whole.
type sent[T api.Object] struct {
	body verb.Body
	obj  T
	// given reports whether an attempt had obj: the strategy's functions may have changed it.
	given bool
	// ofOtherKind is the error for a custom resource of another kind. As in kube-apiserver, whose strategy decides it
	// (ValidateTypeMeta of apiextensions-apiserver), an update learns first that there is no object.
	ofOtherKind error
}

func (s *sent[T]) decode(k *kind[T], a *attempt[T]) (err error) {
	if s.obj, a.warnings, err = a.version.DecodeBody(k.definition.New(), s.body); err != nil {
		if a.verb == updateVerb && a.version.Info.Untyped && apierrors.IsInvalid(err) {
			s.ofOtherKind, err = err, nil
		}
		return err
	}
	a.obj = s.obj
	if a.verb == updateVerb {
		a.uid = s.obj.GetUID()
	}
	return nil
}

func (s *sent[T]) propose(_ context.Context, k *kind[T], a *attempt[T]) (err error) {
	if s.ofOtherKind != nil {
		return s.ofOtherKind
	}
	if a.obj = s.obj; s.given {
		if a.obj, _, err = a.version.DecodeBody(k.definition.New(), s.body); err != nil {
			return err
		}
	}
	s.given = true
	a.addWarnings(metadata.DeduplicateOwners(a.obj, ""))
	return nil
}

// patched is the stored object, patched in the version of the request.
type patched[T api.Object] struct {
	kind verb.PatchType
	body verb.Body
	// patch is read with the first state of the object: a client learns that there is no object before it learns that
	// its patch is wrong.
	patch *codec.Patch[T]
}

func (p *patched[T]) propose(ctx context.Context, k *kind[T], a *attempt[T]) (err error) {
	if p.patch == nil {
		if p.patch, err = a.version.ReadPatch(p.kind, p.body); err != nil {
			return err
		}
	}
	object, err := k.encodeFound(a.version, a.old)
	if err != nil {
		return internal(err)
	}
	_, warnings, err := p.patch.Apply(object, k.definition.New(), func(obj T) error {
		a.obj = obj
		return k.matchRequest(ctx, a)
	})
	a.addWarnings(warnings)
	return err
}

// encodeFound encodes the object of a state in JSON as clients of a version get it.
func (k *kind[T]) encodeFound(v *codec.Served[T], found *store.State[T]) ([]byte, error) {
	if v.Key != k.versions.Storage.Key || found.Data == nil || rendition.InProtobuf(found.Data) {
		return v.Encode(found.Object)
	}
	stored, err := rendition.New(found.Data, v.Head)
	if err != nil {
		return nil, err
	}
	return rendition.Whole(rendition.Stamp(stored, found.Revision)), nil
}

// applied is the result of a server-side apply to the stored object, or to none.
type applied[T api.Object] struct {
	body   verb.Body
	object map[string]any // the result; nil if it is the stored object
}

func (s *applied[T]) propose(_ context.Context, k *kind[T], a *attempt[T]) error {
	managers, err := k.managersOf(a)
	if err != nil {
		return internal(err)
	}
	if a.obj, s.object, err = managers.apply(a, s.body); err != nil || a.old.Exists {
		return err
	}
	if uid := a.obj.GetUID(); uid != "" {
		return apierrors.NewConflict(k.gr, a.name, fmt.Errorf("uid mismatch: the provided object specified uid %s, "+
			"and no existing object was found", uid))
	}
	return nil
}

// changed is a copy of the stored object that a function of an extension changed.
type changed[T api.Object] struct {
	// change changes obj, which belongs to the attempt.
	change func(ctx context.Context, a *attempt[T], obj T) error
}

func (s *changed[T]) propose(ctx context.Context, _ *kind[T], a *attempt[T]) error {
	a.obj = a.old.Object.DeepCopyObject().(T)
	return s.change(ctx, a, a.obj)
}
