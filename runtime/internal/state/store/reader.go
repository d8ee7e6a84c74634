package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/internal/state/cache"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// reader is the untyped half of a Store. It reads renditions from the cache where that can answer, else from the
// backend through the same codec.
type reader struct {
	*shared
	gr schema.GroupResource // for errors
	// selectable are the field paths beyond name and namespace, each at the place of its value. A field that can't be
	// selected by is "".
	selectable []string
}

// shared is what all views of a Store have together.
type shared struct {
	Reading
	cache      *cache.Cache // nil: there is none
	codec      cache.Codec
	renderings renderings
	prefix     string // of the resource's keys, with "/" at its end
	// asking counts the reads that wait for a key's revision from the backend.
	asking atomic.Int32
	// compacted is the revision of the last compaction that a read noticed.
	compacted atomic.Int64
	// closed ends with Close; watches end with it.
	closed context.Context
	stop   context.CancelFunc

	mu         sync.Mutex // orders spawn and Close
	goroutines sync.WaitGroup
}

// spawn runs f in a goroutine that Close waits for; f must end when closed does. After Close it does nothing.
func (s *shared) spawn(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Err() != nil {
		return false
	}
	s.goroutines.Go(f)
	return true
}

// Status maps err to an API status, and notes compactions.
func (r *reader) Status(err error, verb, name string) error {
	if err == nil {
		return nil
	}
	var compacted *storage.CompactedError
	if errors.As(err, &compacted) {
		r.noticed(compacted.Revision)
	}
	return ToStatus(err, r.gr, verb, name)
}

// noticed notes the oldest revision that can be read, as a failed read of an older one told.
func (r *reader) noticed(revision int64) {
	for last := r.compacted.Load(); revision > last; last = r.compacted.Load() {
		if r.compacted.CompareAndSwap(last, revision) {
			return
		}
	}
}

// snapshot returns the cache's state for a resourceVersion: "" is a consistent read, "0" the current state, a number a
// state not older. It returns nil if the backend must answer instead.
func (r *reader) snapshot(ctx context.Context, wanted string, revision int64) (*cache.Snapshot, error) {
	if r.cache == nil {
		return nil, nil
	}
	var s *cache.Snapshot
	var err error
	switch {
	case wanted == "":
		s, err = r.cache.Consistent(ctx)
	case revision == 0:
		s, err = r.cache.Current()
	default:
		s, err = r.cache.NotOlderThan(ctx, revision)
	}
	return s, r.fallBack(ctx, err, revision)
}

// fallBack returns nil for errors of the cache after which the backend must answer.
func (r *reader) fallBack(ctx context.Context, err error, revision int64) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, cache.ErrFuture):
		return r.future(ctx, revision)
	case errors.Is(err, cache.ErrNotReady), errors.Is(err, cache.ErrLagging), errors.Is(err, cache.ErrExpired):
		return nil
	}
	return err
}

func (r *reader) future(ctx context.Context, revision int64) error {
	current, err := r.Backend.Revision(ctx)
	if err != nil {
		return err
	}
	return tooLargeVersion(revision, current)
}

// await waits, for a bounded time, until the backend has revision. Where there is a cache, that waits instead.
func (r *reader) await(ctx context.Context, revision int64) error {
	bound, cancel := context.WithTimeout(ctx, r.Patience)
	defer cancel()
	for pause := 10 * time.Millisecond; ; pause *= 2 {
		current, err := r.Backend.Revision(ctx)
		if err != nil {
			return err
		}
		if current >= revision {
			return nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-bound.Done():
			timer.Stop()
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return tooLargeVersion(revision, current)
		}
	}
}

func (r *reader) decode(kv *storage.KeyValue) *record {
	decoded, err := r.codec.Decode(kv.Key, kv.Value, kv.Revision)
	if err != nil {
		err = corruptError(kv.Key, err)
	}
	return &record{Record: decoded, key: kv.Key, revision: kv.Revision, err: err, r: r}
}

// object is one object at one revision: an entry of the cache, or a record from the backend.
type object interface {
	Fields
	Key() string
	// Err returns why the value can't be read, or nil.
	Err() error
	Labels() labels.Labels
	Rendition(form verb.Form) (verb.Rendition, error)
}

// get reads the object under key, nil if there is none, and the revision of the state that it read.
func (r *reader) get(ctx context.Context, key, wanted string) (object, int64, error) {
	revision, err := ParseVersion(wanted)
	if err != nil {
		return nil, 0, err
	}
	if wanted == "" {
		return r.latest(ctx, key)
	}
	snapshot, err := r.snapshot(ctx, wanted, revision)
	if err != nil {
		return nil, 0, err
	}
	if snapshot != nil {
		return entryOrNil(snapshot.Get(key)), snapshot.Revision(), nil
	}
	if revision > 0 {
		if err := r.await(ctx, revision); err != nil {
			return nil, 0, err
		}
	}
	return r.fromBackend(ctx, key)
}

// latest is a linearizable read: it asks the backend for the key's revision, and reads from the cache where that has
// the revision. Concurrent reads share one request for the current revision.
func (r *reader) latest(ctx context.Context, key string) (object, int64, error) {
	if r.cache == nil {
		return r.fromBackend(ctx, key)
	}
	if r.asking.Load() > 0 {
		if snapshot := r.cache.Latest(ctx); snapshot != nil {
			return entryOrNil(snapshot.Get(key)), snapshot.Revision(), nil
		}
	}
	snapshot, err := r.cache.Current()
	if err != nil {
		return r.fromBackend(ctx, key)
	}
	r.asking.Add(1)
	defer r.asking.Add(-1)
	kv, revision, err := r.Backend.Get(ctx, key, storage.GetOptions{RevisionOnly: true})
	if err != nil || kv == nil {
		return nil, revision, err
	}
	entry := snapshot.Get(key)
	if entry == nil || entry.Revision() != kv.Revision {
		// A write was faster than the cache, which may have it by now; else the value comes from the backend, too.
		if snapshot, err = r.cache.Current(); err == nil {
			entry = snapshot.Get(key)
		}
	}
	if entry == nil || entry.Revision() != kv.Revision {
		return r.fromBackend(ctx, key)
	}
	return entry, revision, nil
}

func (r *reader) fromBackend(ctx context.Context, key string) (object, int64, error) {
	kv, revision, err := r.Backend.Get(ctx, key, storage.GetOptions{})
	if err != nil || kv == nil {
		return nil, revision, err
	}
	return r.decode(kv), revision, nil
}

func entryOrNil(e *cache.Entry) object {
	if e == nil {
		return nil
	}
	return e
}

// GetOptions refine a Get of a Store.
type GetOptions struct {
	// ResourceVersion "" is a linearizable read, "0" reads the cache's current state, a number one not older than it.
	ResourceVersion string
	// IgnoreNotFound makes Get return the zero value for a missing object.
	IgnoreNotFound bool
}

// Get reads one object in a form.
func (s *Store[T]) Get(ctx context.Context, key string, opts GetOptions, form verb.Form) (verb.Rendition, error) {
	full, err := s.key(key)
	if err != nil {
		return verb.Rendition{}, err
	}
	name := nameOf(key)
	o, _, err := s.get(ctx, full, opts.ResourceVersion)
	switch {
	case err != nil:
		return verb.Rendition{}, s.Status(err, "get", name)
	case o == nil && opts.IgnoreNotFound:
		return verb.Rendition{}, nil
	case o == nil:
		return verb.Rendition{}, apierrors.NewNotFound(s.gr, name)
	}
	rendition, err := s.rendition(ctx, o, form)
	return rendition, s.Status(err, "get", name)
}
