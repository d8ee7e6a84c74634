package store

import (
	"context"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/cache"
	"apigen.dev/runtime/storage"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
)

// object is one object at one revision: an entry of the cache, or a record from the backend.
type object interface {
	Fields
	Key() string
	// Err returns why the value can't be read, or nil.
	Err() error
	Labels() labels.Labels
	Rendition(form api.Form) (api.Rendition, error)
}

// get reads the object under key, nil where there is none, and the revision of the state that it read.
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
	kv, revision, err := r.backend.Get(ctx, key, storage.GetOptions{RevisionOnly: true})
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
	kv, revision, err := r.backend.Get(ctx, key, storage.GetOptions{})
	if err != nil || kv == nil {
		return nil, revision, err
	}
	return r.decode(kv), revision, nil
}

// entryOrNil returns an entry as an object, which is nil where the entry is.
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
func (s *Store[T]) Get(ctx context.Context, key string, opts GetOptions, form api.Form) (api.Rendition, error) {
	full, err := s.key(key)
	if err != nil {
		return api.Rendition{}, err
	}
	name := nameOf(key)
	o, _, err := s.get(ctx, full, opts.ResourceVersion)
	switch {
	case err != nil:
		return api.Rendition{}, s.Status(err, "get", name)
	case o == nil && opts.IgnoreNotFound:
		return api.Rendition{}, nil
	case o == nil:
		return api.Rendition{}, apierrors.NewNotFound(s.gr, name)
	}
	rendition, err := o.Rendition(form)
	return rendition, s.Status(err, "get", name)
}
