package store

import (
	"bytes"
	"context"
	"errors"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/storage"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Plan is what a writer decides on a state.
type Plan[T api.Object] struct {
	Verb Verb
	// Object is the object to write. The store encodes it, unless Data is there.
	Object T
	// Data is the stored form of what to write, as Encode returns it; of a removal or of nothing, what to answer: the
	// stored form of the state where it is nil.
	Data []byte
	// TTL is the new time to live, 0 for ever, or storage.KeepTTL.
	TTL time.Duration
}

type Verb uint8

// What becomes of an object.
const (
	Write Verb = iota
	Remove
	Nothing
)

// Outcome is what a write did.
type Outcome struct {
	// Data is the stored form that the plan had.
	Data []byte
	// Revision is that of the object now, or of its removal; without a write (dry run, nothing to do), that of before.
	Revision int64
	Created  bool
	Removed  bool
}

// Writer decides what becomes of a state. The store calls it again, with another state, where the first one turned out
// to be out of date; it may change and keep what it is given.
type Writer[T api.Object] func(current *State[T]) (Plan[T], error)

// CommitOptions refine an Update or a Delete of a Store. The zero value works.
type CommitOptions[T api.Object] struct {
	// Preconditions are checked against each state that the write is tried on.
	Preconditions *metav1.Preconditions
	// IgnoreNotFound lets an Update begin with an empty object, and create it.
	IgnoreNotFound bool
	// Guess, where it is set, is what the caller believes the object to be: a shortcut, never trusted. The store only
	// reads it, so several writes may share one.
	Guess T
	// DryRun reads and decides, and writes nothing.
	DryRun bool
}

// Update writes what decide makes of the current state of an object: most often another object, but decide may also
// remove it or leave it alone. Errors of decide are returned as they are. What equals the stored form isn't written,
// and keeps its TTL.
func (s *Store[T]) Update(ctx context.Context, key string, opts CommitOptions[T], decide Writer[T]) (Outcome, error) {
	return s.commit(ctx, key, "update", opts, decide)
}

// Delete removes an object, unless decide, where it isn't nil, refuses that with an error or finds something else to
// do: to mark an object that finalizers hold. The outcome is the last state with the revision of the removal.
func (s *Store[T]) Delete(ctx context.Context, key string, opts CommitOptions[T], decide Writer[T]) (Outcome, error) {
	if decide == nil {
		decide = func(*State[T]) (Plan[T], error) { return Plan[T]{Verb: Remove}, nil }
	}
	opts.IgnoreNotFound = false
	return s.commit(ctx, key, "delete", opts, decide)
}

// refusal is an error of a caller's function, on its way through the loop untouched.
type refusal struct{ error }

func (s *Store[T]) commit(ctx context.Context, key, verb string, opts CommitOptions[T],
	decide Writer[T],
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

// plan checks what a write expects of a state, and has the caller decide on it.
func (s *Store[T]) plan(current *State[T], name string, opts CommitOptions[T],
	decide Writer[T],
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

// try is the optimistic loop: it begins with the caller's guess, or with the cache's entry where there is none, and
// goes on with what the backend answers. What was decided on a guess (an error, or that nothing is to be done) is
// confirmed by a read before it counts. A write of unknown outcome is never repeated.
func (s *Store[T]) try(ctx context.Context, key string, opts CommitOptions[T], decide Writer[T]) (Outcome, error) {
	current := s.stateOfCaller(opts.Guess)
	if current == nil && !opts.DryRun {
		current = s.guess(key)
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
		if opts.DryRun || p.Verb == Nothing {
			return Outcome{Data: p.Data, Revision: current.Revision, Created: !current.Exists,
				Removed: p.Verb == Remove}, nil
		}
		revision, err := s.apply(ctx, key, current, p)
		if err == nil {
			return Outcome{Data: p.Data, Revision: revision, Created: !current.Exists, Removed: p.Verb == Remove}, nil
		}
		var conflict *storage.ConflictError
		if !errors.As(err, &conflict) {
			return Outcome{}, err
		}
		if current, err = s.stateOf(key, conflict.Current); err != nil {
			return Outcome{}, err
		}
	}
}

func (s *Store[T]) apply(ctx context.Context, key string, current *State[T], p Plan[T]) (int64, error) {
	if p.Verb == Remove {
		return s.backend.Delete(ctx, key, current.Revision)
	}
	return s.put(ctx, key, p.Data, current.Revision, p.TTL)
}
