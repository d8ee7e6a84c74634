package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/cache"
	"apigen.dev/runtime/storage"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// reader is the untyped half of a Store. It reads renditions from the cache where that can answer, else from the
// backend through the same codec.
type reader struct {
	backend storage.Backend
	cache   *cache.Cache // nil: there is none
	codec   cache.Codec
	stored  api.Form
	prefix  string // of the resource's keys, with "/" at its end
	gr      schema.GroupResource
	// namespaced tells that keys are <prefix><namespace>/<name>, else <prefix><name>.
	namespaced bool
	// selectable are the field paths beyond name and namespace.
	selectable []string
	// bookmark makes the object of a bookmark event.
	bookmark func(revision int64, initialEnd bool, form api.Form) (api.Rendition, error)
	// patience is how long a read waits for a revision of the future.
	patience time.Duration
	// bookmarks is how often a watch sends a bookmark.
	bookmarks time.Duration
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
func (r *reader) spawn(f func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed.Err() != nil {
		return false
	}
	r.goroutines.Go(f)
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
// state not older. It returns nil where the backend must answer instead.
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

// future returns the error of a read at a revision of the future.
func (r *reader) future(ctx context.Context, revision int64) error {
	current, err := r.backend.Revision(ctx)
	if err != nil {
		return err
	}
	return tooLargeVersion(revision, current)
}

// await waits, for a bounded time, until the backend has revision. Where there is a cache, that waits instead.
func (r *reader) await(ctx context.Context, revision int64) error {
	bound, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	for pause := 10 * time.Millisecond; ; pause *= 2 {
		current, err := r.backend.Revision(ctx)
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
