package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/storage"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Plan is what a Writer decides for a state.
type Plan[T api.Object] struct {
	Verb Verb
	// Object is the object to write. The store encodes it, unless Data is there.
	Object T
	// Data is the stored form to write, as Encode returns it. With Remove and Nothing it becomes the Data of the
	// Outcome, which is the stored form of the state if it is nil.
	Data []byte
	// TTL is the new time to live: 0 for no limit, or storage.KeepTTL.
	TTL time.Duration
}

// Verb says what a Plan does to the object.
type Verb uint8

// The verbs of plans.
const (
	Write Verb = iota
	Remove
	Nothing
)

// Outcome is the result of a write.
type Outcome struct {
	// Data is the stored form in the plan.
	Data []byte
	// Revision is that of the write. Without a write (a dry run, or nothing to do) it is the object's.
	Revision int64
	Created  bool
	Removed  bool
}

// Writer decides what a write does to a state. After a conflict with another write the store calls it again, with the
// newer state. It may change and keep the state.
type Writer[T api.Object] func(current *State[T]) (Plan[T], error)

// CommitOptions refine an Update or a Delete of a Store. The zero value works.
type CommitOptions[T api.Object] struct {
	// Preconditions must hold for each state that the write is tried on. Servers check them in the Writer; this is the
	// contract of stores.
	Preconditions *metav1.Preconditions
	// IgnoreNotFound lets an Update begin with an empty object, which it creates.
	IgnoreNotFound bool
	// Guess, if it is set, is the object as the caller knows it. The store tries it first, and never trusts it. It
	// only reads it, so several writes may share one. Servers leave it to the cache; this is the contract of stores.
	Guess T
	// DryRun makes the store read and decide, and write nothing.
	DryRun bool
}

// Update runs decide on the current state of an object, and writes what it plans. It returns errors of decide as they
// are. It doesn't write an object that equals the stored form, which keeps its TTL.
func (s *Store[T]) Update(ctx context.Context, key string, opts CommitOptions[T], decide Writer[T]) (Outcome, error) {
	return s.commit(ctx, key, "update", opts, decide)
}

// Delete runs decide on the current state of an object, and does what it plans: decide may refuse the deletion by an
// error, or write an object that has finalizers. A nil decide removes the object. The outcome is the last state with
// the revision of the removal.
func (s *Store[T]) Delete(ctx context.Context, key string, opts CommitOptions[T], decide Writer[T]) (Outcome, error) {
	if decide == nil {
		decide = func(*State[T]) (Plan[T], error) { return Plan[T]{Verb: Remove}, nil }
	}
	opts.IgnoreNotFound = false
	return s.commit(ctx, key, "delete", opts, decide)
}

// refusal wraps an error of a caller's function, which commit returns as it is.
type refusal struct{ error }

func (s *Store[T]) commit(
	ctx context.Context, key, verb string, opts CommitOptions[T], decide Writer[T],
) (Outcome, error) {
	full, err := s.key(key)
	if err != nil {
		return Outcome{}, err
	}
	name := nameOf(key)
	out, err := s.try(ctx, full, opts, func(current *State[T]) (Plan[T], error) {
		return s.plan(current, name, opts, decide)
	})
	if err == nil {
		return out, nil
	}
	var refused refusal
	if errors.As(err, &refused) {
		return Outcome{}, refused.error
	}
	return Outcome{}, s.Status(err, verb, name)
}

func (s *Store[T]) plan(
	current *State[T], name string, opts CommitOptions[T], decide Writer[T],
) (p Plan[T], err error) {
	if !current.Exists {
		if !opts.IgnoreNotFound {
			return p, apierrors.NewNotFound(s.gr, name)
		}
		current.Object = s.config.New()
	}
	if err := CheckPreconditions(s.gr, name, opts.Preconditions, current.Object); err != nil {
		return p, err
	}
	if p, err = decide(current); err != nil {
		return p, refusal{err}
	}
	switch {
	case p.Data != nil:
	case p.Verb == Write:
		p.Data, err = s.encodeCopy(p.Object)
	default:
		p.Data = current.Data
	}
	return p, err
}

// try is the optimistic loop. It begins with the caller's guess or with the cache's entry, and goes on with the state
// that the backend answers to a conflict. Where decide returns an error or has nothing to do for a guess, try reads the
// object before it returns that. It never repeats a write of unknown outcome.
func (s *Store[T]) try(ctx context.Context, key string, opts CommitOptions[T], decide Writer[T]) (Outcome, error) {
	current := s.stateOfCaller(opts.Guess)
	if current == nil && !opts.DryRun {
		current = s.guess(ctx, key)
	}
	if current == nil {
		var err error
		if current, err = s.read(ctx, key); err != nil {
			return Outcome{}, err
		}
	}
	for {
		p, err := decide(current)
		if err == nil && p.Verb == Write && current.Exists && !current.stale && bytes.Equal(p.Data, current.Data) {
			p.Verb = Nothing
		}
		if (err != nil || p.Verb == Nothing) && !current.fresh {
			now, readErr := s.read(ctx, key)
			if readErr != nil {
				return Outcome{}, readErr
			}
			if now.Revision != current.Revision || now.stale != current.stale {
				current = now
				continue
			}
		}
		if err != nil {
			return Outcome{}, err
		}
		out := Outcome{
			Data: p.Data, Revision: current.Revision, Created: !current.Exists, Removed: p.Verb == Remove,
		}
		if opts.DryRun || p.Verb == Nothing {
			return out, nil
		}
		revision, err := s.apply(ctx, key, current, p)
		if err == nil {
			out.Revision = revision
			return out, nil
		}
		var conflict *storage.ConflictError
		if !errors.As(err, &conflict) {
			return Outcome{}, err
		}
		if current, err = s.stateOf(ctx, key, conflict.Current); err != nil {
			return Outcome{}, err
		}
	}
}

func (s *Store[T]) apply(ctx context.Context, key string, current *State[T], p Plan[T]) (int64, error) {
	if p.Verb == Remove {
		return s.Backend.Delete(ctx, key, current.Revision)
	}
	return s.put(ctx, key, p.Data, current.Revision, p.TTL)
}

// CheckPreconditions returns 409 where an object doesn't meet preconditions.
func CheckPreconditions[T api.Object](gr schema.GroupResource, name string, p *metav1.Preconditions, obj T) error {
	if p == nil {
		return nil
	}
	if p.UID != nil && *p.UID != obj.GetUID() {
		return apierrors.NewConflict(gr, name,
			fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). "+
				"The object might have been deleted and then recreated", *p.UID, obj.GetUID()))
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != obj.GetResourceVersion() {
		return apierrors.NewConflict(gr, name,
			fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion "+
				"in record (%s). The object might have been modified", *p.ResourceVersion, obj.GetResourceVersion()))
	}
	return nil
}

// CreateOptions refine a Create of a Store. The zero value works.
type CreateOptions struct {
	// Data is the stored form of the object, as Encode returns it; nil has the store encode the object.
	Data []byte
	// TTL is how long the object lives; 0 means no limit.
	TTL time.Duration
	// DryRun makes Create check that the object doesn't exist, and write nothing.
	DryRun bool
}

// Create writes an object that must not exist, in one transaction. Except in a dry run it refuses an object that has a
// resourceVersion.
func (s *Store[T]) Create(ctx context.Context, key string, obj T, opts CreateOptions) (Outcome, error) {
	full, err := s.key(key)
	if err != nil {
		return Outcome{}, err
	}
	if version := obj.GetResourceVersion(); version != "" && version != "0" && !opts.DryRun {
		return Outcome{}, apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	data := opts.Data
	if data == nil {
		if data, err = s.encodeCopy(obj); err != nil {
			return Outcome{}, apierrors.NewInternalError(err)
		}
	}
	out := Outcome{Data: data, Created: true}
	var conflict *storage.ConflictError
	if opts.DryRun {
		var kv *storage.KeyValue
		if kv, _, err = s.Backend.Get(ctx, full, storage.GetOptions{}); kv != nil {
			conflict = &storage.ConflictError{Key: full, Current: kv}
		}
	} else if out.Revision, err = s.put(ctx, full, data, 0, opts.TTL); err != nil {
		var taken *storage.ConflictError
		if errors.As(err, &taken) {
			conflict = taken
		}
	}
	switch {
	case conflict != nil:
		return Outcome{}, s.exists(ctx, conflict, obj.GetName())
	case err != nil:
		return Outcome{}, s.Status(err, "create", obj.GetName())
	}
	return out, nil
}

// BeingDeleted begins the message of an error about an object with a deletionTimestamp.
const BeingDeleted = "object is being deleted: "

// exists returns 409 AlreadyExists, whose message says so where the existing object is being deleted.
func (s *Store[T]) exists(ctx context.Context, conflict *storage.ConflictError, name string) error {
	status := apierrors.NewAlreadyExists(s.gr, name)
	if conflict.Current != nil {
		current, err := s.stateOf(ctx, conflict.Key, conflict.Current)
		if err == nil && current.Object.GetDeletionTimestamp() != nil {
			status.ErrStatus.Message = BeingDeleted + status.ErrStatus.Message
		}
	}
	return WithCause(status, conflict)
}

// State is the state of an object that an optimistic write reads. A Writer may change and keep it.
type State[T api.Object] struct {
	// Object is the object with its resourceVersion; an empty one if it doesn't exist.
	Object   T
	Exists   bool
	Revision int64
	// Data is the stored form, as the store would write it today.
	Data []byte
	// stale reports whether the backend has another form than Data: an older version, older defaults, an older key.
	stale bool
	// fresh reports whether this write read the state from the backend: it is not a guess.
	fresh bool
}

func (s *Store[T]) read(ctx context.Context, key string) (*State[T], error) {
	kv, _, err := s.Backend.Get(ctx, key, storage.GetOptions{})
	if err != nil {
		return nil, err
	}
	return s.stateOf(ctx, key, kv)
}

// stateOf decodes a value of the backend; nil is absent. Writes fail for a corrupt value, too: only DeleteCorrupt
// removes one. A value whose conversion ends with ctx isn't corrupt.
func (s *Store[T]) stateOf(ctx context.Context, key string, kv *storage.KeyValue) (*State[T], error) {
	if kv == nil {
		return &State[T]{fresh: true}, nil
	}
	plain, stale, err := s.config.open(key, kv.Value)
	if err != nil {
		return nil, corruptError(key, err)
	}
	obj, err := s.config.Decode(ctx, plain)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, corruptError(key, err)
	}
	data, err := s.Encode(obj)
	if err != nil {
		return nil, corruptError(key, err)
	}
	obj.SetResourceVersion(strconv.FormatInt(kv.Revision, 10))
	stale = stale || !bytes.Equal(bytes.TrimRight(plain, "\n"), bytes.TrimRight(data, "\n"))
	return &State[T]{Object: obj, Exists: true, Revision: kv.Revision, Data: data, stale: stale, fresh: true}, nil
}

func (s *Store[T]) guess(ctx context.Context, key string) *State[T] {
	if s.cache == nil {
		return nil
	}
	snapshot, err := s.cache.Current()
	if err != nil {
		return nil
	}
	entry := snapshot.Get(key)
	if entry == nil || entry.Err() != nil {
		return nil
	}
	rendered, err := entry.Rendition(s.Stored)
	if err != nil {
		return nil
	}
	data := rendition.StoredForm(rendered)
	obj, err := s.config.Decode(ctx, data)
	if err != nil {
		return nil
	}
	obj.SetResourceVersion(strconv.FormatInt(entry.Revision(), 10))
	return &State[T]{Object: obj, Exists: true, Revision: entry.Revision(), Data: data, stale: entry.Stale()}
}

// stateOfCaller returns the state of the caller's guess, or nil if the caller has none.
func (s *Store[T]) stateOfCaller(obj T) *State[T] {
	var none T
	if any(obj) == any(none) {
		return nil
	}
	revision, err := ParseVersion(obj.GetResourceVersion())
	if err != nil || revision == 0 {
		return nil
	}
	own := obj.DeepCopyObject().(T)
	data, err := s.Encode(own)
	if err != nil {
		return nil
	}
	return &State[T]{Object: own, Exists: true, Revision: revision, Data: data}
}
