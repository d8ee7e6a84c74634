package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/object/metadata"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type storageEnd[T api.Object] struct {
	kind  *kind[T]
	store *store.Store[T]
	// ignorePropagation is Config.IgnorePropagation.
	ignorePropagation bool
	// afterWrite is Config.AfterWrite.
	afterWrite func(ctx context.Context, revision int64)
	// life replaces the strategy's time to live, if it isn't nil.
	life *time.Duration
}

// announce calls afterWrite, unless the write was a dry run.
func (e *storageEnd[T]) announce(ctx context.Context, r *request[T], revision int64) {
	if e.afterWrite != nil && !r.options.DryRun {
		e.afterWrite(ctx, revision)
	}
}

func (e *storageEnd[T]) initialize(obj T) {
	metadata.Initialize(obj)
	if !e.kind.definition.Strategy.NoGeneration {
		obj.SetGeneration(1)
	}
}

func (e *storageEnd[T]) key(namespace, name string) (string, error) {
	if err := e.kind.checkPath(namespace, name); err != nil {
		return "", err
	}
	if e.kind.info.Scope == api.Cluster {
		return e.store.Prefix() + name, nil
	}
	return e.store.Prefix() + namespace + "/" + name, nil
}

func (e *storageEnd[T]) plan(ctx context.Context, a *attempt[T]) (err error) {
	a.plan.TTL = e.timeToLive(ctx, a)
	switch a.operation() {
	case createOperation:
		if len(e.kind.definition.Subresources) > 0 { // whose fields were removed, with their defaults
			err = internal(e.kind.versions.SetDefaults(a.version, a.obj))
		}
		if err == nil {
			a.plan.Data, err = e.encode(a.version, a.obj)
		}
	case updateOperation:
		err = e.planUpdate(a)
	case deleteOperation:
		err = e.planDeletion(ctx, a)
	}
	return err
}

// timeToLive returns how long the object lives from this write on. A deletion that marks it changes nothing about that.
func (e *storageEnd[T]) timeToLive(ctx context.Context, a *attempt[T]) time.Duration {
	switch timeToLive := e.kind.definition.Strategy.TimeToLive; {
	case timeToLive == nil && e.life == nil:
		return 0
	case a.operation() == deleteOperation:
		return storage.KeepTTL
	case e.life != nil:
		return *e.life
	default:
		return timeToLive(ctx, a.obj)
	}
}

// planUpdate encodes the object, or plans to remove it where the update removes its last finalizer.
func (e *storageEnd[T]) planUpdate(a *attempt[T]) (err error) {
	old := a.old.Object
	data, err := e.encode(a.version, a.obj)
	if err != nil {
		return err
	}
	if sameButTimes(data, a.old.Data, a.obj.GetManagedFields(), old.GetManagedFields()) {
		data = a.old.Data
	}
	if a.scope.counted && !e.kind.definition.Strategy.NoGeneration {
		counts, err := e.differ(data, a.old.Data, e.kind.definition.Strategy.CountsStatus)
		if err == nil && (counts || preservedDiffer(a.obj, old)) {
			data, err = e.setGeneration(a.version, a.obj, old.GetGeneration()+1, data)
		}
		if err != nil {
			return err
		}
	}
	a.plan.Data = data
	if metadata.Finalized(a.obj, old) && !e.blocked(a.obj) {
		a.plan.Verb = store.Remove
	}
	return nil
}

// encode returns the stored form of a valid object that a client sent in a version.
func (e *storageEnd[T]) encode(from *codec.Served[T], obj T) ([]byte, error) {
	var err error
	if from.Key != e.kind.versions.Storage.Key {
		obj, err = e.kind.versions.ToStorageVersion(obj)
	}
	var data []byte
	if err == nil {
		data, err = e.store.Encode(obj)
	}
	if err == nil {
		return data, nil
	}
	var unsupported *json.UnsupportedValueError
	if errors.As(err, &unsupported) { // protobuf has NaN, JSON has not
		return nil, apierrors.NewBadRequest("the object can't be stored: " + err.Error())
	}
	return nil, internal(err)
}

func (e *storageEnd[T]) renderAhead(a *attempt[T]) (err error) {
	form := a.options.Form
	if a.ahead.made || !a.shown() || a.render == nil && form == e.store.Form() {
		return nil
	}
	render := a.render
	if render == nil {
		render = e.renderer(a.versions)
	}
	a.ahead, err = renderAheadOf(render, a.plan.Data, a.old.Revision, form)
	return err
}

// shown reports whether the answer is the object; that of a deletion may be a Status.
func (a *attempt[T]) shown() bool {
	return a.done == nil || a.done.Shown || a.plan.Verb == store.Write
}

// renderer returns the renderer of the versions of the kind, or of those of a request.
func (e *storageEnd[T]) renderer(versions *codec.Versions[T]) renderer {
	return func(data []byte, revision int64, form verb.Form) (verb.Rendition, error) {
		r, err := e.store.Rendition(data, revision)
		if err != nil || form == e.store.Form() {
			return r, internal(err)
		}
		r, err = versions.Render(r, form)
		return r, internal(err)
	}
}

// render renders a stored form. It doesn't end with a request, so that a client learns what was written.
func (e *storageEnd[T]) render(data []byte, revision int64, form verb.Form) (verb.Rendition, error) {
	return e.renderer(e.kind.versions)(data, revision, form)
}

func (e *storageEnd[T]) create(ctx context.Context, a *attempt[T]) (verb.Rendition, error) {
	name := a.obj.GetName()
	key, err := e.key(a.obj.GetNamespace(), name)
	if err != nil {
		return verb.Rendition{}, err
	}
	dryRun := a.options.DryRun
	a.obj.SetResourceVersion(a.sentVersion) // the store refuses it, except in a dry run
	out, err := e.store.Create(ctx, key, a.obj, store.CreateOptions{
		Data: a.plan.Data, DryRun: dryRun, TTL: a.plan.TTL,
	})
	if err != nil {
		return verb.Rendition{}, e.store.Status(err, createVerb, name)
	}
	e.announce(ctx, a.request, out.Revision)
	revision := out.Revision
	if dryRun {
		// A dry run writes nothing, so the object keeps the resourceVersion that the client sent.
		revision, _ = store.ParseVersion(a.obj.GetResourceVersion())
	}
	return a.ahead.at(e.render, a.plan.Data, revision, a.options.Form)
}

// modify implements end: it compares and swaps. It reads the object itself, and ignores one that was found before.
func (e *storageEnd[T]) modify(
	ctx context.Context, r *request[T], _ *store.State[T], decide decide[T],
) (verb.Rendition, error) {
	key, err := e.key(r.namespace, r.name)
	if err != nil {
		return verb.Rendition{}, err
	}
	var a *attempt[T]
	writer := func(found *store.State[T]) (p store.Plan[T], err error) {
		if a, err = decide(found); err == nil {
			p = a.plan
		}
		return p, err
	}
	var out store.Outcome
	if opts := (store.CommitOptions[T]{IgnoreNotFound: true, DryRun: r.options.DryRun}); r.verb == deleteVerb {
		out, err = e.store.Delete(ctx, key, opts, writer)
	} else {
		out, err = e.store.Update(ctx, key, opts, writer)
	}
	if err != nil {
		return verb.Rendition{}, e.store.Status(err, r.verb, r.name)
	}
	e.announce(ctx, r, out.Revision)
	if !a.shown() {
		return verb.Rendition{}, nil
	}
	revision := out.Revision
	if out.Removed && r.verb == updateVerb {
		// The update removed the last finalizer: the answer is the object as the client sent it, at its old revision.
		revision = a.old.Revision
	}
	render := r.render
	if render == nil {
		render = e.render
	}
	return a.ahead.at(render, out.Data, revision, r.options.Form)
}

// setGeneration sets the generation of an object and of its stored form: in JSON in place, else by encoding it again.
func (e *storageEnd[T]) setGeneration(from *codec.Served[T], obj T, generation int64, data []byte) ([]byte, error) {
	obj.SetGeneration(generation)
	start, end, ok := rendition.MetadataMember(data, 1, "generation")
	if !ok {
		return e.encode(from, obj)
	}
	var digits [20]byte
	return slices.Concat(data[:start], strconv.AppendInt(digits[:0], generation, 10), data[end:]), nil
}

// differ reports whether two stored forms differ in a field whose changes metadata.generation counts. Only JSON names
// the fields, so it renders those of two messages that differ beyond their metadata.
func (e *storageEnd[T]) differ(a, b []byte, status bool) (bool, error) {
	if e.store.Form().Encoding == verb.JSON {
		return specifiedDiffer(a, b, status), nil
	}
	if rendition.EqualButMetadata(a, b) {
		return false, nil
	}
	form := verb.Form{Version: e.store.Form().Version}
	x, err := e.render(a, 0, form)
	if err != nil {
		return false, err
	}
	y, err := e.render(b, 0, form)
	return specifiedDiffer(rendition.Whole(x), rendition.Whole(y), status), err
}

// specifiedDiffer is differ for JSON.
func specifiedDiffer(a, b []byte, status bool) bool {
	var few [2][16][]byte // room for keys and values, so that they are on the stack
	x, y := specified(a, few[0][:0], status), specified(b, few[1][:0], status)
	return !slices.EqualFunc(x, y, bytes.Equal)
}

// preservedFields is the prefix of annotations that preserve fields which only one version has.
const preservedFields = "apigen.dev/preserved-"

// preservedDiffer reports whether two objects differ in the fields that such annotations preserve.
func preservedDiffer(a, b metav1.Object) bool {
	x, y := a.GetAnnotations(), b.GetAnnotations()
	carried := func(annotations, others map[string]string) bool {
		for name, text := range annotations {
			if strings.HasPrefix(name, preservedFields) && others[name] != text {
				return true
			}
		}
		return false
	}
	return carried(x, y) || carried(y, x)
}

// specified appends the keys and values of a stored form whose changes metadata.generation counts.
func specified(data []byte, to [][]byte, status bool) [][]byte {
	rendition.Members(data, 1, func(key []byte, start, end int) bool {
		switch string(key) {
		case "metadata", "kind", "apiVersion":
		case "status":
			if status {
				to = append(to, key, data[start:end])
			}
		default:
			to = append(to, key, data[start:end])
		}
		return true
	})
	return to
}
