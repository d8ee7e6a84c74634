package collector

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/registry"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// resource is one that is watched, and how far the graph has followed it.
type resource struct {
	handle     registry.Handle
	kind       schema.GroupKind
	gr         schema.GroupResource
	namespaced bool
	// form is the stored one: nothing is rendered for it, and nothing kept.
	form  api.Form
	kinds map[schema.GroupKind]*resource // constant once the collector runs
	// tried is closed once all of the resource was read, or could not be; skipped tells that it has no watch.
	tried   chan struct{}
	once    sync.Once
	skipped atomic.Bool
	// floor is the revision of the state with which the watch began or, later, of the last event that counted: reads from
	// memory must not be older, since the watch need not come from there.
	floor atomic.Int64
	// hidden are those of its objects that can't be read.
	hidden hidden

	mu        sync.Mutex // guards all below
	reached   int64      // the graph knows all up to this revision; 0 while the resource isn't followed
	wanted    int64      // what somebody waits for
	changed   chan struct{}
	interrupt context.CancelFunc // ends the follower's wait for events
}

func newResource(handle registry.Handle, kinds map[schema.GroupKind]*resource) *resource {
	info := handle.Info()
	return &resource{
		handle: handle, kind: schema.GroupKind{Group: info.Group, Kind: info.Names.Kind}, gr: info.GroupResource(),
		namespaced: info.Scope == api.Namespaced, form: api.Form{Version: info.Storage, Shape: api.Whole},
		kinds: kinds, tried: make(chan struct{}), changed: make(chan struct{}),
	}
}

func (r *resource) setTried() { r.once.Do(func() { close(r.tried) }) }

// follows is how far the graph has followed the resource; 0 is not at all.
func (r *resource) follows() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reached
}

// reach notes how far the graph has come; 0 is that it follows no more.
func (r *resource) reach(revision int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reached = revision
	close(r.changed)
	r.changed = make(chan struct{})
}

// await returns once the graph knows all of the resource up to a revision, and fails where it isn't followed.
func (r *resource) await(ctx context.Context, revision int64) error {
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

// wait returns a context for the follower's wait for events, which ends where somebody waits for more than there is.
func (r *resource) wait(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.interrupt = cancel; r.wanted > r.reached {
		cancel()
	}
	return ctx, cancel
}

// missing is the revision that somebody waits for; 0 is nobody.
func (r *resource) missing() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wanted > r.reached {
		return r.wanted
	}
	return 0
}

// get reads the metadata of an object: from memory, where that has what the graph has, or, live, from storage. Nil is that
// there is none.
func (r *resource) get(ctx context.Context, namespace, name string, live bool) (*metadata, error) {
	version := strconv.FormatInt(r.floor.Load(), 10)
	if live {
		version = ""
	}
	found, err := r.handle.Get(ctx, namespace, name, version, r.form)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := readMetadata(found)
	return &m, err
}

var errUnpaced = errors.New("the resource has no watch that tells how far it is")

// unwatchable tells that a resource has no watch that the graph could follow, and never will.
func unwatchable(err error) bool {
	return errors.Is(err, errUnpaced) || apierrors.IsMethodNotSupported(err) || apierrors.IsNotFound(err)
}
