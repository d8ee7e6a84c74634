package collector

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// resource is a resource that the collector watches, and the revision up to which the graph has followed it.
type resource struct {
	// source is where the objects are read and written. It changes when the resource is replaced by one of the same
	// name. It is nil for a resource of another server, which remote is.
	source     atomic.Pointer[source]
	remote     *Remote
	kind       schema.GroupKind
	gr         schema.GroupResource
	namespaced bool
	kinds      *kinds
	// stop ends the follower; nil before the collector runs.
	stop context.CancelFunc
	// tried is closed when all of the resource was read, or could not be read. skipped reports whether it has no watch.
	tried   chan struct{}
	once    sync.Once
	skipped atomic.Bool
	// floor is the revision of the state with which the watch began or, later, of the last relevant event. Reads from
	// the cache must not be older, because the watch need not come from the cache.
	floor atomic.Int64
	// confirmed are owners in another server, and listed reports whether its objects were ever listed.
	confirmed confirmed
	listed    atomic.Bool
	// replays counts the states that watches began with. The follower uses it.
	replays int

	mu        sync.Mutex // guards the fields below
	reached   int64      // the graph has all events up to this revision; 0 while the resource isn't watched
	wanted    int64      // the revision that a caller waits for
	changed   chan struct{}
	interrupt context.CancelFunc // interrupts the follower's wait for events
}

// source is an open resource.
type source struct {
	handle verb.Handle
	// form is the stored form, for which the cache renders and keeps nothing.
	form verb.Form
}

func newResource(handle verb.Handle, kinds *kinds) *resource {
	info := handle.Info()
	r := &resource{
		kind: schema.GroupKind{Group: info.Group, Kind: info.Names.Kind}, gr: info.GroupResource(),
		namespaced: info.Scope == api.Namespaced,
		kinds:      kinds, tried: make(chan struct{}), changed: make(chan struct{}),
	}
	r.read(handle)
	return r
}

// read makes the resource read a handle.
func (r *resource) read(handle verb.Handle) {
	r.source.Store(&source{handle, metadataForm(handle)})
}

// metadataForm returns the cheapest form in which readMetadata finds the metadata of a resource's objects: the stored
// one where that is JSON.
func metadataForm(handle verb.Handle) verb.Form {
	form := verb.Form{Version: handle.Info().Storage, Shape: verb.Whole}
	if s, ok := handle.(verb.Stored); ok && s.StoredForm() != form {
		form.Shape = verb.Metadata
	}
	return form
}

func (r *resource) setTried() { r.once.Do(func() { close(r.tried) }) }

// followedRevision returns the revision up to which the graph has followed the resource; 0 if it doesn't.
func (r *resource) followedRevision() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reached
}

// setReached records the revision up to which the graph has followed the resource; 0 if it doesn't any more.
func (r *resource) setReached(revision int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reached = revision
	close(r.changed)
	r.changed = make(chan struct{})
}

// waitFor waits until the graph has all events up to a revision. It fails if the resource isn't watched. A resource of
// another server has no revisions of this server.
func (r *resource) waitFor(ctx context.Context, revision int64) error {
	if r.remote != nil {
		return nil
	}
	for {
		r.mu.Lock()
		reached, changed := r.reached, r.changed
		if r.wanted = max(r.wanted, revision); reached < revision && r.interrupt != nil {
			r.interrupt()
		}
		r.mu.Unlock()
		switch {
		case reached >= revision || r.skipped.Load():
			return nil
		case reached == 0:
			return fmt.Errorf("%s is not being watched", r.gr)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s to reach revision %d: %w", r.gr, revision, ctx.Err())
		}
	}
}

// waitContext returns a context for the follower's wait for events. It ends when a caller waits for a later revision.
func (r *resource) waitContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.interrupt = cancel; r.wanted > r.reached {
		cancel()
	}
	return ctx, cancel
}

// wantedRevision returns the revision that a caller waits for; 0 if none does.
func (r *resource) wantedRevision() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wanted > r.reached {
		return r.wanted
	}
	return 0
}

// get reads the metadata of an object, from a cache that is as new as the graph or, if live is true, from storage. It
// returns nil if the object doesn't exist.
func (r *resource) get(ctx context.Context, namespace, name string, live bool) (*metadata, error) {
	if r.remote != nil {
		p, err := r.remote.Objects.Get(ctx, namespace, name)
		if err != nil || p == nil {
			return nil, err
		}
		return metadataOf(p), nil
	}
	version := strconv.FormatInt(r.floor.Load(), 10)
	if live {
		version = ""
	}
	from := r.source.Load()
	found, err := from.handle.Get(ctx, namespace, name, version, from.form)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := readMetadata(found)
	return &m, err
}

// mergePatch applies a merge patch to an object. It returns nil if the object doesn't exist.
func (r *resource) mergePatch(ctx context.Context, namespace, name string, patch []byte) error {
	var err error
	if r.remote != nil {
		err = r.remote.Objects.Patch(ctx, namespace, name, patch)
	} else {
		from := r.source.Load()
		body := verb.Body{Version: from.form.Version, Data: patch, Validation: metav1.FieldValidationIgnore}
		_, err = from.handle.Patch(ctx, namespace, name, "", verb.MergePatch, body,
			verb.WriteOptions{FieldManager: manager, Form: from.form})
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// revision returns the present revision of storage.
func (r *resource) revision(ctx context.Context) (int64, error) {
	from := r.source.Load()
	page, err := from.handle.List(ctx, "", verb.ListOptions{Limit: 1}, from.form)
	if err != nil {
		return 0, err
	}
	defer page.Close()
	return strconv.ParseInt(page.ResourceVersion, 10, 64)
}

var errNoProgress = errors.New("the resource has no watch that reports its progress")
