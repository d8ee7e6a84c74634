package registry

import (
	"context"
	"errors"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/metadata"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// pipeline lists the steps of every write of a kind: create, update, patch, apply, delete, each deletion of a
// collection, and the writes of subresources and actions. Its end is storage or a provider; see end.
type pipeline[T api.Object] struct {
	// received runs once for a request, before the end reads the object.
	received []step[T]
	// proposed runs for each state that the end reads; a conflict with another write repeats it.
	proposed []step[T]
	// completed follows proposed. A collision of generated names repeats only these steps.
	completed []step[T]
	// deleted runs for each state of an object that the request deletes.
	deleted []step[T]
}

// step is one step of a write. It reads the attempt and may change its new object, its warnings and its plan. The
// client gets its error, which ends the write.
type step[T api.Object] struct {
	name string
	run  func(k *kind[T], ctx context.Context, a *attempt[T]) error
}

// newPipeline lists the steps. The order is kube-apiserver's, because clients and webhooks can see it.
func newPipeline[T api.Object]() *pipeline[T] {
	return &pipeline[T]{
		received: []step[T]{
			// Decode the body, default it in the request's version, and convert it to the hub.
			{"decode", (*kind[T]).decode},
			{"namespace and name", (*kind[T]).matchRequest},
			{"reset metadata", (*kind[T]).resetMetadata},
		},
		proposed: []step[T]{
			{"preconditions", (*kind[T]).checkPreconditions},
			// A patch goes from the hub to the request's version, is applied and defaulted there, and goes back.
			{"propose", (*kind[T]).propose},
			{"namespace and name of a patch", (*kind[T]).matchRequest},
			{"managed fields", (*kind[T]).trackFields},
			{"mutating admission", (*kind[T]).mutate},
			{"owner references", (*kind[T]).deduplicateOwners},
			// What a client may not do depends on the object, too: nobody grants a role more than they may do.
			{"authorize", (*kind[T]).authorize},
		},
		completed: []step[T]{
			{"resource version", (*kind[T]).checkVersion},
			// The generated name, the UID and the creation time of a new object; those of an old one stay.
			{"system metadata", (*kind[T]).setSystemMetadata},
			{"prepare", (*kind[T]).prepare},
			{"validate", (*kind[T]).validate},
			{"warn", (*kind[T]).warn},
			{"canonicalize", (*kind[T]).canonicalize},
			// An update or an apply that creates needs the permission to create, too.
			{"authorize a creation", (*kind[T]).authorizeCreation},
			{"validating admission", (*kind[T]).admit},
			{"encode", (*kind[T]).plan},
			{"render ahead", (*kind[T]).renderAhead},
		},
		deleted: []step[T]{
			{"preconditions", (*kind[T]).checkDeletion},
			{"mutating admission", (*kind[T]).mutate},
			{"validating admission", (*kind[T]).admit},
			{"mark or remove", (*kind[T]).plan},
			{"render ahead", (*kind[T]).renderAhead},
		},
	}
}

// end is where the pipeline ends: storage, or the functions of a provider.
type end[T api.Object] interface {
	// plan decides what to write: it encodes the object, or plans a deletion. No later step refuses the object, except
	// that renderAhead may be unable to render it.
	plan(ctx context.Context, a *attempt[T]) error
	// renderAhead renders the answer before the write, or refuses the write if it can't.
	renderAhead(a *attempt[T]) error
	// create writes the attempt's object, which must not exist, and returns the answer.
	create(ctx context.Context, a *attempt[T]) (verb.Rendition, error)
	// modify reads the object of a request, has decide run the steps, and does what the attempt plans. After a conflict
	// with another write it begins again with the newer object. It begins with found, where that isn't nil.
	modify(ctx context.Context, r *request[T], found *store.State[T], decide decide[T]) (verb.Rendition, error)
}

type decide[T api.Object] func(found *store.State[T]) (*attempt[T], error)

func (k *kind[T]) run(ctx context.Context, a *attempt[T], steps []step[T]) error {
	for i := range steps {
		if err := steps[i].run(k, ctx, a); err != nil {
			return err
		}
	}
	return nil
}

func (k *kind[T]) create(ctx context.Context, r *request[T]) (verb.Result, error) {
	r.within(ctx, k.versions)
	a := &attempt[T]{request: r, old: &k.absent}
	err := k.run(ctx, a, k.pipeline.received)
	if err == nil {
		err = k.run(ctx, a, k.pipeline.proposed)
	}
	if err != nil {
		return verb.Result{Warnings: a.warnings}, err
	}
	return r.writeWithinSize(func() (verb.Result, error) {
		if r.ownership == dropped {
			a.obj.SetManagedFields(nil)
		}
		return k.createNamed(ctx, a)
	})
}

// createNamed creates an object under its name, or under generated names until one is free.
func (k *kind[T]) createNamed(ctx context.Context, a *attempt[T]) (verb.Result, error) {
	if !needsName(a.obj) {
		result, err := k.complete(ctx, a)
		if a.obj.GetGenerateName() != "" && apierrors.IsAlreadyExists(err) {
			err = nameTaken(k.gr, a.obj.GetName(), err)
		}
		return result, err
	}
	for n := 1; ; n++ {
		named := *a
		named.obj = a.obj.DeepCopyObject().(T)
		result, err := k.complete(ctx, &named)
		if err == nil || !apierrors.IsAlreadyExists(err) {
			return result, err
		}
		if n == metadata.MaxGeneratedNames {
			return result, nameTaken(k.gr, named.obj.GetName(), err)
		}
	}
}

// complete runs the steps that follow the proposal of a new object, and creates it.
func (k *kind[T]) complete(ctx context.Context, a *attempt[T]) (verb.Result, error) {
	if err := k.run(ctx, a, k.pipeline.completed); err != nil {
		a.settle(ctx, admission.Rejected)
		return verb.Result{Warnings: a.warnings}, err
	}
	answer, err := k.end.create(ctx, a)
	a.settle(ctx, a.outcome(err))
	return verb.Result{Object: answer, Created: err == nil, Warnings: a.warnings}, err
}

// update runs a request that changes an object, or creates it, where the request may.
func (k *kind[T]) update(ctx context.Context, r *request[T]) (verb.Result, error) {
	r.within(ctx, k.versions)
	a := &attempt[T]{request: r}
	if err := k.run(ctx, a, k.pipeline.received); err != nil {
		return verb.Result{Warnings: a.warnings}, err
	}
	received := a.warnings[:len(a.warnings):len(a.warnings)]
	return r.writeWithinSize(func() (verb.Result, error) {
		answer, err := k.end.modify(ctx, r, nil, func(found *store.State[T]) (*attempt[T], error) {
			a.settle(ctx, admission.Rejected) // another write came between
			*a = attempt[T]{request: r, old: found, warnings: received}
			err := k.run(ctx, a, k.pipeline.proposed)
			if err == nil {
				err = k.run(ctx, a, k.pipeline.completed)
			}
			if err != nil {
				a.settle(ctx, admission.Rejected)
			}
			return a, err
		})
		a.settle(ctx, a.outcome(err))
		return verb.Result{Object: answer, Created: err == nil && !a.old.Exists, Warnings: a.warnings}, err
	})
}

// writeWithinSize runs a write, and runs it again without managedFields if they make the object too large.
func (r *request[T]) writeWithinSize(write func() (verb.Result, error)) (verb.Result, error) {
	result, err := write()
	if !errors.Is(err, storage.ErrTooLarge) || r.ownership != updated {
		return result, err
	}
	r.ownership = dropped
	return write()
}

// delete runs a request that deletes an object. It begins with found, where that isn't nil.
func (k *kind[T]) delete(ctx context.Context, r *request[T], found *store.State[T]) (verb.Deletion, error) {
	r.within(ctx, k.versions)
	var done verb.Deletion
	a := &attempt[T]{request: r}
	answer, err := k.end.modify(ctx, r, found, func(found *store.State[T]) (*attempt[T], error) {
		a.settle(ctx, admission.Rejected) // another write came between
		options := r.deletion.options
		*a = attempt[T]{request: r, old: found, obj: found.Object, deleteOptions: &options, done: &done}
		err := k.run(ctx, a, k.pipeline.deleted)
		if err != nil {
			a.settle(ctx, admission.Rejected)
		}
		return a, err
	})
	a.settle(ctx, a.outcome(err))
	if err != nil {
		return verb.Deletion{}, err
	}
	done.Object = answer
	return done, nil
}
