package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/state/cache"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// maxEvents bounds what one Next returns, but for events of one revision.
	maxEvents = 256
	// beforeDeadline is how long before its deadline a watch sends the last bookmark.
	beforeDeadline = 2 * time.Second
)

// watch is a Watch: first the state, where the client asks for it, then the events after it. It has no goroutine and no
// queue; its reader drives it.
type watch struct {
	r      *reader
	given  context.Context // what Watch was called with
	ctx    context.Context // given, or the handle's: whichever ends first
	cancel context.CancelFunc
	unbind func() bool // from the handle
	form   verb.Form
	sel    Selector
	prefix string // of the keys

	failure error    // why the watch could not begin
	initial *initial // nil once the state was sent, and where the client doesn't ask for it
	source  source
	// marks asks for bookmarks, markInitial for the one that ends the initial events.
	marks, markInitial bool
	events             []verb.Event
	// corrupt is WatchOptions.Corrupt.
	corrupt bool
	// due is ctx until the next bookmark is due.
	due      context.Context
	unmarked context.CancelFunc
}

// source has the events after the state: a cursor of the cache, or a stream of the backend.
type source interface {
	// next waits for events, at most maxEvents, and appends them to those of the watch.
	next(ctx context.Context) error
	// revision is the revision up to which next has returned all events.
	revision() int64
	// arrived reports whether the backend has that revision: a watch may begin in the future.
	arrived(ctx context.Context) (bool, error)
	close()
}

// Watch watches the objects below prefix in a form, or one object where prefix is its key, without a "/" at the end.
// The Watch is a Paced and a Backlog, too.
func (s *Store[T]) Watch(
	ctx context.Context, prefix string, opts api.WatchOptions, form verb.Form,
) (verb.Watch, error) {
	full, err := s.key(prefix)
	if err != nil {
		return nil, err
	}
	w, err := s.watch(ctx, full, opts, form)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// watch begins a watch of the keys below prefix, or of one key without a "/" at the end.
func (r *reader) watch(ctx context.Context, prefix string, opts api.WatchOptions, form verb.Form) (*watch, error) {
	after, err := ParseVersion(opts.ResourceVersion)
	if err != nil {
		return nil, err
	}
	sel, err := NewSelector(opts.Selection, r.selectable)
	if err != nil {
		return nil, err
	}
	if opts.Corrupt && !sel.Empty() {
		return nil, r.Status(errSelectsCorrupt, "watch", "")
	}
	if !strings.HasSuffix(prefix, "/") {
		sel.key = prefix
	}
	w := &watch{r: r, given: ctx, form: form, sel: sel, prefix: r.narrow(prefix, &sel), marks: opts.AllowBookmarks,
		corrupt: opts.Corrupt, unmarked: func() {}}
	w.ctx, w.cancel = context.WithCancel(ctx)
	w.unbind = context.AfterFunc(r.closed, w.cancel)
	if err := w.begin(opts, after); err != nil {
		err = r.Status(err, "watch", "")
		if !apierrors.IsResourceExpired(err) && !apierrors.HasStatusCause(err,
			metav1.CauseTypeResourceVersionTooLarge) {
			w.Close()
			return nil, err
		}
		w.failure = err // as in kube-apiserver, the client gets this error as an event
	}
	w.schedule(time.Now())
	return w, nil
}

// begin decides where the watch begins: with the state where the revision is missing or 0, or sendInitialEvents asks
// for it, else after the revision.
func (w *watch) begin(opts api.WatchOptions, after int64) error {
	withState := after == 0
	if opts.SendInitialEvents != nil {
		withState = *opts.SendInitialEvents
	}
	if after > 0 && !withState {
		if err := w.follow(after); err != nil {
			return err
		}
		// The history that a stream of the backend follows may lack the revision of the client; a cursor's never does.
		if _, direct := w.source.(*backendSource); direct && w.r.cache != nil {
			return watchError(w.r.cache.Unbroken(w.ctx, after), after)
		}
		return nil
	}
	state, err := w.state(opts.ResourceVersion, after)
	if err != nil {
		return err
	}
	if withState {
		w.initial, w.markInitial = state, w.marks
	}
	return w.follow(state.revision)
}

// follow sets the source of the events after a revision: the cache's log, or the backend where the log begins later.
func (w *watch) follow(after int64) error {
	if w.r.cache != nil {
		cursor, err := w.r.cache.Watch(w.prefix, w.sel.lookup, after, w.sel.match())
		if err == nil {
			if w.corrupt {
				cursor.PassCorrupt()
			}
			w.source = &cacheSource{w, cursor}
			return nil
		}
		if !errors.Is(err, cache.ErrExpired) && !errors.Is(err, cache.ErrNotReady) {
			return err
		}
	}
	direct, err := newBackendSource(w, after)
	if err == nil {
		w.source = direct
	}
	return err
}

func watchError(err error, after int64) error {
	var compacted *storage.CompactedError
	if errors.As(err, &compacted) || errors.Is(err, cache.ErrExpired) || errors.Is(err, errGap) {
		return expiredWatch(after, err)
	}
	return err
}

func (w *watch) Next(ctx context.Context) ([]verb.Event, error) {
	clear(w.events) // a watch that waits for long keeps no object alive
	w.events = w.events[:0]
	if w.failure != nil {
		return nil, w.failure
	}
	if w.initial != nil {
		if err := w.nextInitial(ctx); err != nil || len(w.events) > 0 {
			return w.events, w.ended(ctx, err)
		}
	}
	bound := w.due
	if ctx != w.given {
		var cancel context.CancelFunc
		bound, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(w.due, cancel)()
	}
	err := w.source.next(bound)
	switch {
	case err == nil:
		return w.events, nil
	case w.due.Err() != nil && ctx.Err() == nil && w.ctx.Err() == nil:
		err = w.markReached(ctx)
		w.schedule(time.Now())
		if m, ok := w.source.(*backendSource); ok && err == nil {
			err = m.stream.RequestProgress(ctx)
		}
	}
	return w.events, w.ended(ctx, err)
}

// ended prefers the error of a context over the error of storage that it caused.
func (w *watch) ended(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case w.ctx.Err() != nil:
		return w.ctx.Err()
	}
	return w.r.Status(err, "watch", "")
}

// nextInitial appends the next part of the state, and the bookmark at its end.
func (w *watch) nextInitial(ctx context.Context) error {
	done, err := w.initial.next(ctx)
	if err != nil || !done {
		return err
	}
	w.initial = nil
	if w.markInitial {
		return w.mark(true)
	}
	return nil
}

// markReached appends a bookmark, unless the watch waits for a revision of the future: a client that resumed from such
// a bookmark would miss the events before it.
func (w *watch) markReached(ctx context.Context) error {
	arrived, err := w.source.arrived(ctx)
	if err != nil || !arrived {
		return err
	}
	return w.mark(false)
}

func (w *watch) mark(initialEnd bool) error {
	object, err := w.r.Bookmark(w.source.revision(), initialEnd, w.form)
	if err != nil {
		return err
	}
	w.events = append(w.events, verb.Event{Type: api.Bookmark, Object: object})
	return nil
}

// schedule sets when the next bookmark is due: after the usual time with some jitter, or just before the deadline.
func (w *watch) schedule(now time.Time) {
	w.unmarked()
	w.due, w.unmarked = w.ctx, func() {}
	if !w.marks {
		return
	}
	next := now.Add(w.r.BookmarkEvery + time.Duration(rand.Int64N(int64(w.r.BookmarkEvery)/4+1)))
	if deadline, ok := w.ctx.Deadline(); ok {
		last := deadline.Add(-beforeDeadline)
		if !last.After(now) {
			return
		}
		if next.After(last) {
			next = last
		}
	}
	w.due, w.unmarked = context.WithDeadline(w.ctx, next)
}

// More implements Backlog: a part of the state from the cache is followed by another one.
func (w *watch) More() bool {
	return w.initial != nil && w.initial.snapshot != nil && w.initial.from != ""
}

func (w *watch) Revision() int64 {
	if w.failure != nil {
		return 0
	}
	return w.source.revision()
}

func (w *watch) Hurry(ctx context.Context) error {
	if w.failure != nil {
		return w.failure
	}
	if m, ok := w.source.(*backendSource); ok {
		return w.ended(ctx, m.stream.RequestProgress(ctx))
	}
	_, err := w.r.cache.Consistent(ctx)
	return w.ended(ctx, err)
}

func (w *watch) Close() {
	w.unbind()
	w.unmarked()
	w.cancel()
	if w.source != nil {
		w.source.close()
	}
}
