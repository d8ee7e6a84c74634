package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/rendition"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/store"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// target is the object that an update is for.
type target[T api.Object] struct {
	key, namespace, name string
	subresource          *Subresource[T]
	// uid is that of the very object that is meant, where the client named one.
	uid types.UID
	// version is that of the URL.
	version *codec.Served[T]
	// through is the extension that is written, "" for none; acts tells that it may change all of the object.
	through string
	acts    bool
	// answer, where set, makes the answer of the stored form. That of what acts is made by then.
	answer answering
	// create allows to create the object, owned tells that proposals come with their managedFields, and bare that nobody
	// keeps any.
	create, owned, bare bool
	// merged tells that proposals are made of the object as it is, and not sent.
	merged bool
	// manager is who writes.
	manager string
}

func (h *handle[T]) target(namespace, name, subresource, version string) (t target[T], err error) {
	t = target[T]{namespace: namespace, name: name, create: h.definition.Strategy.AllowCreateOnUpdate}
	if t.key, err = h.key(namespace, name); err != nil {
		return t, err
	}
	if t.subresource, err = h.subresource(subresource); err != nil {
		return t, err
	}
	if t.version, err = h.versions.Lookup(version); err != nil {
		return t, apierrors.NewInternalError(err)
	}
	return t, nil
}

// proposal makes, of the current state, the object that a client wants. It owns what it returns.
type proposal[T api.Object] func(current *store.State[T]) (obj T, warnings []string, err error)

// Update implements Write.
func (h *handle[T]) Update(ctx context.Context, namespace, name, subresource string, body api.Body, opts api.WriteOptions) (api.Result, error) {
	t, err := h.target(namespace, name, subresource, body.Version)
	if err != nil {
		return api.Result{}, err
	}
	sent, warnings, err := h.sent(t, body)
	if err != nil {
		return api.Result{Warnings: warnings}, err
	}
	t.uid = sent.GetUID()
	used := false
	result, err := h.update(ctx, t, opts, func(*store.State[T]) (T, []string, error) {
		obj := sent
		if used {
			// What was tried before belongs to the strategy's functions by now.
			if obj, _, err = h.sent(t, body); err != nil {
				return obj, nil, err
			}
		}
		used = true
		return obj, warnings, nil
	})
	if err != nil {
		result.Warnings = warnings
	}
	return result, err
}

// checkUID refuses a state that is not of the very object that is meant. Its absence is no exception, where an update could
// create it: whoever knew the object is told that there is none any more.
func (h *handle[T]) checkUID(t target[T], current *store.State[T]) error {
	var found types.UID
	if current.Exists {
		found = current.Object.GetUID()
	}
	if t.uid == "" || t.uid == found {
		return nil
	}
	return apierrors.NewConflict(h.store.Resource(), t.name,
		fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", t.uid, found))
}

// sent decodes a body that must be the target. The warnings hold also where it is not.
func (h *handle[T]) sent(t target[T], body api.Body) (obj T, warnings []string, err error) {
	if obj, warnings, err = h.decodeBody(body); err != nil {
		return obj, nil, err
	}
	return obj, warnings, h.isTarget(obj, t)
}

func (h *handle[T]) isTarget(obj T, t target[T]) error {
	if err := place(obj, h.info.Scope, t.namespace); err != nil {
		return err
	}
	return checkName(obj, t.name)
}

// update brings the target to what propose makes of it.
func (h *handle[T]) update(ctx context.Context, t target[T], opts api.WriteOptions, propose proposal[T]) (api.Result, error) {
	var result api.Result
	var answer foreseen
	var before int64
	t.manager = opts.FieldManager
	out, err := h.store.Update(ctx, t.key, store.CommitOptions[T]{IgnoreNotFound: true, DryRun: opts.DryRun}, func(current *store.State[T]) (p store.Plan[T], err error) {
		before = current.Revision
		if !current.Exists && (t.subresource != nil || !t.create) {
			return p, apierrors.NewNotFound(h.store.Resource(), t.name)
		}
		if err := h.checkUID(t, current); err != nil {
			return p, err
		}
		obj, warnings, err := propose(current)
		if err != nil {
			result.Warnings = warnings
			return p, err
		}
		more, err := h.attribute(&t, obj, current, opts.FieldManager)
		if err != nil {
			return p, err
		}
		warnings = append(warnings[:len(warnings):len(warnings)], more...)
		if current.Exists {
			more, p, err = h.prepareUpdate(ctx, obj, current, t)
		} else if err = forgetVersion(obj); err == nil {
			more, p.Data, err = h.prepareCreate(ctx, t, obj, current)
		}
		result.Warnings = append(warnings[:len(warnings):len(warnings)], more...)
		if err == nil {
			answer, err = h.foreseeTarget(t, p.Data, current.Revision, opts.Form)
		}
		return p, err
	})
	if errors.Is(err, storage.ErrTooLarge) && !t.owned && !t.bare {
		// An object that would fit without its managedFields does without them.
		t.bare = true
		return h.update(ctx, t, opts, propose)
	}
	if err != nil {
		return api.Result{Warnings: result.Warnings}, h.store.Status(err, "update", t.name)
	}
	revision := out.Revision
	if out.Removed {
		// Its last finalizer went: the answer is the object as it was sent, at the revision that it had.
		revision = before
	}
	result.Created = out.Created
	result.Object, err = answer.at(h.answering(t), out.Data, revision, opts.Form)
	return result, err
}

// answering makes the answers to writes of the target.
func (h *handle[T]) answering(t target[T]) answering {
	if t.answer != nil {
		return t.answer
	}
	return h.answer
}

// foreseeTarget is foresee for what the target answers with.
func (h *handle[T]) foreseeTarget(t target[T], data []byte, revision int64, form api.Form) (foreseen, error) {
	switch {
	case t.acts:
		return foreseen{}, nil
	case t.answer == nil:
		return h.foreseeObject(data, revision, form)
	}
	return h.foresee(t.answer, data, revision, form)
}

// attribute notes in a proposal who owns what: the owners of the object, and those of its fields.
func (h *handle[T]) attribute(t *target[T], obj T, current *store.State[T], manager string) (warnings []string, err error) {
	warnings = dedupOwners(obj, t.merged)
	switch {
	case t.bare:
		obj.SetManagedFields(nil)
	case !t.owned:
		err = h.own(t, obj, current, manager)
	}
	return warnings, err
}

// prepareUpdate decides what becomes of the current state, given the object that a client wants instead.
func (h *handle[T]) prepareUpdate(ctx context.Context, obj T, current *store.State[T], t target[T]) (warnings []string, p store.Plan[T], err error) {
	if err := h.checkVersion(obj, t.name, current.Revision); err != nil {
		return nil, p, err
	}
	obj.SetResourceVersion(current.Object.GetResourceVersion())
	switch {
	case t.acts:
		warnings, err = h.prepareAction(ctx, t, obj, current.Object)
	case t.subresource != nil:
		obj, err = h.prepareSubresource(ctx, t, obj, current.Object)
	default:
		warnings, err = h.prepareObject(ctx, t, obj, current)
	}
	if err != nil {
		return nil, p, err
	}
	if p.Data, err = h.canonical(t.version, obj); err != nil {
		return nil, p, err
	}
	if sameButTimes(p.Data, current.Data, obj.GetManagedFields(), current.Object.GetManagedFields()) {
		p.Data = current.Data
	}
	// What is written through a part of the object is no change of what it is to be.
	if t.subresource == nil && !h.definition.Strategy.NoGeneration && (differ(p.Data, current.Data) || ownDiffer(obj, current.Object)) {
		if p.Data, err = h.nextGeneration(t.version, obj, current.Object.GetGeneration()+1, p.Data); err != nil {
			return nil, p, err
		}
	}
	if finalized(obj, current.Object) {
		p.Verb = store.Remove
	}
	return warnings, p, nil
}

func (h *handle[T]) prepareObject(ctx context.Context, t target[T], obj T, current *store.State[T]) (warnings []string, err error) {
	strategy, old := &h.definition.Strategy, current.Object
	inherit(obj, old)
	for _, s := range h.definition.Subresources {
		s.Copy(old, obj)
	}
	if strategy.PrepareForUpdate != nil {
		h.prepare(&t, obj, current, func() { strategy.PrepareForUpdate(ctx, obj, old) })
	}
	if err := h.validateUpdate(ctx, t, obj, old); err != nil {
		return nil, err
	}
	return h.warnings(ctx, obj, old), nil
}

// prepareSubresource takes what the subresource covers, and who owns what, from obj, and everything else from old.
func (h *handle[T]) prepareSubresource(ctx context.Context, t target[T], obj, old T) (T, error) {
	updated := old.DeepCopyObject().(T)
	t.subresource.Copy(obj, updated)
	updated.SetManagedFields(obj.GetManagedFields())
	return updated, h.validateSubresource(ctx, t, updated, old)
}

// nextGeneration sets metadata.generation in an object and in its stored form.
func (h *handle[T]) nextGeneration(from *codec.Served[T], obj T, generation int64, data []byte) ([]byte, error) {
	obj.SetGeneration(generation)
	inside, ok := rendition.InsideMetadata(data, 1)
	if !ok {
		return h.canonical(from, obj)
	}
	start, end, ok := rendition.Member(data, inside, "generation")
	if !ok {
		return h.canonical(from, obj)
	}
	out := make([]byte, 0, len(data)+1)
	out = append(out, data[:start]...)
	out = strconv.AppendInt(out, generation, 10)
	return append(out, data[end:]...), nil
}

// differ tells whether two stored forms differ in what counts for metadata.generation: in any member at their top
// beside metadata and status.
func differ(a, b []byte) bool {
	var few [2][16][]byte // room for keys and values, so that they are on the stack
	x, y := specified(a, few[0][:0]), specified(b, few[1][:0])
	return !slices.EqualFunc(x, y, bytes.Equal)
}

// ownFields is how annotations begin in which the hub's objects carry fields that a version alone has, as generated conversions
// write them.
const ownFields = "apigen.dev/preserved-"

// ownDiffer tells whether two objects differ in what versions alone have.
func ownDiffer(a, b metav1.Object) bool {
	x, y := a.GetAnnotations(), b.GetAnnotations()
	carried := func(annotations, others map[string]string) bool {
		for name, text := range annotations {
			if strings.HasPrefix(name, ownFields) && others[name] != text {
				return true
			}
		}
		return false
	}
	return carried(x, y) || carried(y, x)
}

// specified appends the keys and values of a stored form that count for metadata.generation.
func specified(data []byte, to [][]byte) [][]byte {
	rendition.Members(data, 1, func(key []byte, start, end int) bool {
		switch string(key) {
		case "metadata", "status", "kind", "apiVersion":
		default:
			to = append(to, key, data[start:end])
		}
		return true
	})
	return to
}
