package registry

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/storage"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// state is an object as an optimistic write finds it.
type state[T api.Object] struct {
	// obj is the object with its resourceVersion; zero where it is absent. It belongs to whoever got the state.
	obj      T
	exists   bool
	revision int64
	// data is its stored form, as it would be stored today.
	data  []byte
	stale bool
	// fresh tells what was read from the backend for this write from a guess that the cache made.
	fresh bool
}

// plan is what a writer decides on a state.
type plan[T api.Object] struct {
	verb verb
	// data is the stored form of what to write; of a removal or of nothing, what to answer.
	data []byte
	ttl  time.Duration
}

type verb uint8

const (
	write verb = iota
	remove
	nothing
)

// outcome is what a commit did.
type outcome struct {
	data []byte
	// revision is that of the object now, or of its removal; without a write (dry run, nothing to do), that of before.
	revision int64
	created  bool
	removed  bool
}

// writer decides what becomes of a state. It is called again, with another state, where the first one turned out to be
// out of date; it may change and keep what it is given.
type writer[T api.Object] func(s *state[T]) (plan[T], error)

// commit is the optimistic loop: it begins with guess, or with the cache's entry where that is nil, and goes on with
// what the backend answers. What was decided on a guess (an error, or that nothing is to be done) is confirmed by a
// read before it counts. A write of unknown outcome is never repeated.
func (s *Store[T]) commit(ctx context.Context, key string, guess *state[T], dryRun bool, decide writer[T]) (outcome, error) {
	current := guess
	if current == nil && !dryRun {
		current = s.guess(key)
	}
	if current == nil {
		var err error
		if current, err = s.read(ctx, key); err != nil {
			return outcome{}, err
		}
	}
	for {
		p, err := decide(current)
		if err == nil && p.verb == write && current.exists && !current.stale && bytes.Equal(p.data, current.data) {
			p.verb = nothing
		}
		if (err != nil || p.verb == nothing) && !current.fresh {
			now, readErr := s.read(ctx, key)
			if readErr != nil {
				return outcome{}, readErr
			}
			if now.revision != current.revision || now.stale != current.stale {
				current = now
				continue
			}
		}
		if err != nil {
			return outcome{}, err
		}
		if dryRun || p.verb == nothing {
			return outcome{data: p.data, revision: current.revision, created: !current.exists, removed: p.verb == remove}, nil
		}
		revision, err := s.apply(ctx, key, current, p)
		if err == nil {
			return outcome{data: p.data, revision: revision, created: !current.exists, removed: p.verb == remove}, nil
		}
		var conflict *storage.ConflictError
		if !errors.As(err, &conflict) {
			return outcome{}, err
		}
		if current, err = s.stateOf(key, conflict.Current); err != nil {
			return outcome{}, err
		}
	}
}

func (s *Store[T]) apply(ctx context.Context, key string, current *state[T], p plan[T]) (int64, error) {
	if p.verb == remove {
		return s.backend.Delete(ctx, key, current.revision)
	}
	return s.put(ctx, key, p.data, current.revision, p.ttl)
}

// read is the state in the backend.
func (s *Store[T]) read(ctx context.Context, key string) (*state[T], error) {
	kv, _, err := s.backend.Get(ctx, key, storage.GetOptions{})
	if err != nil {
		return nil, err
	}
	return s.stateOf(key, kv)
}

// stateOf makes a state of what the backend returned; nil is absent. A value that can't be decoded can't be written
// over or deleted either: that takes an option of its own, since it may break what relies on it.
func (s *Store[T]) stateOf(key string, kv *storage.KeyValue) (*state[T], error) {
	if kv == nil {
		return &state[T]{fresh: true}, nil
	}
	plain, stale, err := s.config.open(key, kv.Value)
	if err != nil {
		return nil, corrupt(key, err)
	}
	obj, err := s.config.Decode(plain)
	if err != nil {
		return nil, corrupt(key, err)
	}
	obj.SetSelfLink("")
	data, err := s.encode(obj)
	if err != nil {
		return nil, corrupt(key, err)
	}
	obj.SetResourceVersion(strconv.FormatInt(kv.Revision, 10))
	stale = stale || !bytes.Equal(bytes.TrimRight(plain, "\n"), data[:len(data)-1])
	return &state[T]{obj: obj, exists: true, revision: kv.Revision, data: data, stale: stale, fresh: true}, nil
}

// guess is the state that the cache has, or nil.
func (s *Store[T]) guess(key string) *state[T] {
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
	rendition, err := entry.Rendition(s.stored)
	if err != nil {
		return nil
	}
	obj, err := s.config.Decode(whole(rendition))
	if err != nil {
		return nil
	}
	obj.SetResourceVersion(strconv.FormatInt(entry.Revision(), 10))
	return &state[T]{obj: obj, exists: true, revision: entry.Revision(), data: storedForm(rendition), stale: entry.Stale()}
}

// encodeCopy encodes an object that the store's caller may share with readers: it leaves obj alone.
func (s *Store[T]) encodeCopy(obj T) ([]byte, error) { return s.encode(obj.DeepCopyObject().(T)) }

// encode returns the stored form of an object: without resourceVersion and selfLink, and with a newline. It takes both
// off obj and puts them back, so obj must belong to the write.
func (s *Store[T]) encode(obj T) ([]byte, error) {
	version, link := obj.GetResourceVersion(), obj.GetSelfLink()
	obj.SetResourceVersion("")
	obj.SetSelfLink("")
	data, err := s.config.Encode(obj)
	obj.SetResourceVersion(version)
	obj.SetSelfLink(link)
	if err != nil {
		return nil, err
	}
	return append(bytes.TrimRight(data, "\n"), '\n'), nil
}

// insert writes an object that must be absent.
func (s *Store[T]) insert(ctx context.Context, key, name string, data []byte, ttl time.Duration, dryRun bool) (int64, error) {
	var conflict *storage.ConflictError
	if dryRun {
		kv, _, err := s.backend.Get(ctx, key, storage.GetOptions{})
		if err == nil && kv != nil {
			err = &storage.ConflictError{Key: key, Current: kv}
		}
		if !errors.As(err, &conflict) {
			return 0, err
		}
		return 0, s.exists(conflict, name)
	}
	revision, err := s.put(ctx, key, data, 0, ttl)
	if errors.As(err, &conflict) {
		return 0, s.exists(conflict, name)
	}
	return revision, err
}

// beingDeleted is how the message on an object begins that is on its way out.
const beingDeleted = "object is being deleted: "

// exists is 409 AlreadyExists, with a word on why where the one that exists is on its way out.
func (s *Store[T]) exists(conflict *storage.ConflictError, name string) error {
	status := apierrors.NewAlreadyExists(s.gr, name)
	if conflict.Current != nil {
		current, err := s.stateOf(conflict.Key, conflict.Current)
		if err == nil && current.obj.GetDeletionTimestamp() != nil {
			status.ErrStatus.Message = beingDeleted + status.ErrStatus.Message
		}
	}
	return because(status, conflict)
}
