package store

import (
	"context"
	"errors"
	"fmt"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/state/cache"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
)

// narrow returns the prefix of the namespace that a selector names, if it names one.
func (r *reader) narrow(prefix string, sel *Selector) string {
	if r.Namespaced && prefix == r.prefix && sel.namespace != "" {
		if below := keyBelow(prefix, sel.namespace); below != "" {
			return below + "/"
		}
	}
	return prefix
}

// initial is the state with which a watch begins, sent piece by piece.
type initial struct {
	*watch
	snapshot *cache.Snapshot // nil: it comes from the backend
	revision int64
	from     string
	// bad are the objects that can't be sent. They end the watch, once it has read all of the state.
	bad listFailures
	// together reports whether the objects of a part are rendered together; waiting are those.
	together bool
	waiting  []object
}

func (w *watch) state(wanted string, revision int64) (*initial, error) {
	snapshot, err := w.r.snapshot(w.ctx, wanted, revision)
	if err != nil {
		return nil, err
	}
	s := &initial{watch: w, snapshot: snapshot, together: w.r.rendersTogether(w.form)}
	if snapshot != nil {
		s.revision = snapshot.Revision()
		return s, nil
	}
	if revision > 0 {
		if err := w.r.await(w.ctx, revision); err != nil {
			return nil, err
		}
	}
	s.revision, err = w.r.Backend.Revision(w.ctx)
	return s, err
}

// next appends the next part of the state to the events of the watch, and reports whether it was the last one.
func (s *initial) next(ctx context.Context) (done bool, err error) {
	if s.snapshot != nil {
		done = s.nextCached()
		err = s.appendWaiting(ctx)
	}
	for s.snapshot == nil && (len(s.events) == 0 || !s.bad.none()) && !done && err == nil {
		if done, err = s.nextBackend(ctx); err == nil {
			err = s.appendWaiting(ctx)
		}
	}
	if err == nil && done {
		err = s.bad.err(s.r.gr)
	}
	return done, err
}

func (s *initial) nextCached() (done bool) {
	for e := range s.snapshot.Select(s.prefix, s.from, s.sel.lookup) {
		if !s.sel.covers(e) {
			continue
		}
		if len(s.events)+len(s.waiting) == maxEvents && s.bad.none() {
			s.from = e.Key()
			return false
		}
		if s.appendObject(e, e.Revision()) {
			return true
		}
	}
	return true
}

func (s *initial) nextBackend(ctx context.Context) (done bool, err error) {
	result, err := s.r.Backend.Range(ctx, storage.RangeRequest{
		Prefix: s.prefix, From: s.from, Limit: maxEvents, Revision: s.revision,
	})
	if err != nil {
		return false, watchError(err, s.revision)
	}
	for i := range result.Items {
		if rec := s.r.decode(&result.Items[i]); s.sel.covers(rec) && s.appendObject(rec, rec.revision) {
			return true, nil
		}
	}
	if n := len(result.Items); result.More && n > 0 {
		s.from = result.Items[n-1].Key + "\x00"
		return false, nil
	}
	return true, nil
}

// appendObject appends an object to the events of the watch, or notes why it can't be shown. It reports whether it has
// noted enough.
func (s *initial) appendObject(o object, revision int64) (enough bool) {
	if o.Err() != nil && s.corrupt {
		s.events = append(s.events, s.r.corruptEvent(api.Corrupt, o.Key(), revision))
		return false
	}
	if s.together {
		s.waiting = append(s.waiting, o)
		return false
	}
	rendition, ok := s.bad.render(o, s.form)
	if ok && s.bad.none() {
		s.events = append(s.events, verb.Event{Type: api.Added, Object: rendition})
	}
	return s.bad.enough()
}

// appendWaiting renders the objects that wait together, and appends them as appendObject does. Its error is that of
// ctx.
func (s *initial) appendWaiting(ctx context.Context) error {
	if len(s.waiting) == 0 {
		return nil
	}
	rendered, errs, err := s.r.renderTogether(ctx, s.waiting, s.form)
	if err != nil {
		return err
	}
	for i, err := range errs {
		switch {
		case err != nil && !s.bad.enough():
			s.bad.note(s.waiting[i], s.form, err)
		case err == nil && s.bad.none():
			s.events = append(s.events, verb.Event{Type: api.Added, Object: rendered[i]})
		}
	}
	s.waiting = s.waiting[:0]
	return nil
}

type cacheSource struct {
	*watch
	cursor *cache.Cursor
}

func (s *cacheSource) next(ctx context.Context) error {
	events, err := s.cursor.Next(ctx)
	if err != nil {
		return watchError(err, s.cursor.Revision())
	}
	for i := range events {
		e := &events[i]
		if s.corrupt && e.Entry.Err() != nil {
			kind := api.Corrupt
			if e.Type == cache.Deleted {
				kind = api.Deleted
			}
			s.events = append(s.events, s.r.corruptEvent(kind, e.Entry.Key(), e.Revision))
			continue
		}
		rendition, err := s.r.rendition(s.ctx, e.Entry, s.form)
		if err != nil {
			return corruptError(e.Entry.Key(), err)
		}
		s.events = append(s.events, verb.Event{Type: typeOfEvent[e.Type], Object: rendition})
	}
	return nil
}

var typeOfEvent = [...]api.EventType{cache.Added: api.Added, cache.Modified: api.Modified, cache.Deleted: api.Deleted}

func (s *cacheSource) revision() int64 { return s.cursor.Revision() }
func (s *cacheSource) close()          { s.cursor.Close() }

func (s *cacheSource) arrived(context.Context) (bool, error) { return s.cursor.Arrived(), nil }

// backendSource follows a watch of the backend, through the same codec. Its goroutine reads the stream, because a
// stream doesn't survive a Next whose context ends.
//
// It expires where the connection to the backend is lost: a backend that was restored may have another history. The
// cache can detect that, because it compares its state with the backend's; a backendSource can't.
type backendSource struct {
	*watch
	stream  storage.Stream
	batches chan storage.Batch // closed by pump, after it set err
	err     error
	end     context.CancelFunc
	reached int64 // next has returned all events up to this revision
	came    bool  // the backend has that revision
	batch   storage.Batch
	at      int // the next event of batch
}

func newBackendSource(w *watch, after int64) (*backendSource, error) {
	ctx, end := context.WithCancel(w.ctx)
	stream, err := w.r.Backend.Watch(ctx, w.prefix, after)
	if err != nil {
		end()
		return nil, watchError(err, after)
	}
	if resumer, ok := stream.(storage.Resumer); ok {
		resumer.EndWithConnection()
	}
	s := &backendSource{watch: w, stream: stream, reached: after, end: end, batches: make(chan storage.Batch)}
	if !w.r.spawn(func() { s.pump(ctx) }) {
		end()
		stream.Close()
		return nil, storage.ErrClosed
	}
	return s, nil
}

func (s *backendSource) pump(ctx context.Context) {
	defer close(s.batches)
	for {
		batch, err := s.stream.Next(ctx)
		if err != nil {
			s.err = err
			return
		}
		select {
		case s.batches <- batch:
		case <-ctx.Done():
			s.err = ctx.Err()
			return
		}
	}
}

func (s *backendSource) receive(ctx context.Context) error {
	select {
	case batch, ok := <-s.batches:
		switch {
		case !ok && errors.Is(s.err, storage.ErrUnavailable):
			return watchError(fmt.Errorf("%w: %w", errGap, s.err), s.reached)
		case !ok:
			return watchError(s.err, s.reached)
		}
		s.batch, s.at = batch, 0
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *backendSource) next(ctx context.Context) error {
	for len(s.events) == 0 {
		if s.at == len(s.batch.Events) {
			s.reached = max(s.reached, s.batch.Revision)
			if err := s.receive(ctx); err != nil {
				return err
			}
		}
		for s.at < len(s.batch.Events) && (len(s.events) < maxEvents ||
			// A client that resumed between two events of one revision would miss the second.
			s.at > 0 && s.batch.Events[s.at].Revision == s.batch.Events[s.at-1].Revision) {
			event, ok, err := s.event(&s.batch.Events[s.at])
			if err != nil {
				return err
			}
			s.at++
			if ok {
				s.events = append(s.events, event)
			}
		}
	}
	return nil
}

var errGap = errors.New("storage was lost, and what happened meanwhile can't be known")

// event returns the event of a change: an object that begins or stops to match is added or deleted.
func (s *backendSource) event(e *storage.Event) (event verb.Event, ok bool, err error) {
	if !e.Created && e.Previous == nil {
		cause := fmt.Errorf("storage no longer has the state of %s before revision %d", e.Key, e.Revision)
		return event, false, expiredWatch(s.reached, cause)
	}
	var now, before *record
	if !e.Deleted {
		if now, err = s.matching(&e.KeyValue); err != nil {
			return s.corruptEvent(api.Corrupt, e, err)
		}
	}
	if e.Previous != nil {
		// A write over a corrupt value repairs it. The removal of one has no object to send.
		if before, err = s.matching(e.Previous); err != nil && e.Deleted {
			return s.corruptEvent(api.Deleted, e, err)
		}
	}
	last := now
	switch {
	case now == nil && before == nil:
		return event, false, nil
	case now == nil:
		event.Type, last = api.Deleted, before
	case before == nil:
		event.Type = api.Added
	default:
		event.Type = api.Modified
	}
	if event.Type == api.Deleted {
		last.Record.Rendition = s.r.codec.Restamp(last.Record.Rendition, e.Revision)
	}
	event.Object, err = s.r.rendition(s.ctx, last, s.form)
	return event, err == nil, err
}

// corruptEvent is the event of a corrupt object, where the client watches for those; else it is an error.
func (s *backendSource) corruptEvent(kind api.EventType, e *storage.Event, err error) (verb.Event, bool, error) {
	if !s.corrupt {
		return verb.Event{}, false, err
	}
	return s.r.corruptEvent(kind, e.Key, e.Revision), true, nil
}

func (s *backendSource) matching(kv *storage.KeyValue) (*record, error) {
	rec := s.r.decode(kv)
	if rec.err != nil || !s.sel.selects(rec) {
		return nil, rec.err
	}
	return rec, nil
}

func (s *backendSource) revision() int64 {
	if s.at == len(s.batch.Events) {
		return max(s.reached, s.batch.Revision)
	}
	return s.reached
}

func (s *backendSource) arrived(ctx context.Context) (bool, error) {
	if s.came {
		return true, nil
	}
	now, err := s.r.Backend.Revision(ctx)
	s.came = err == nil && now >= s.revision()
	return s.came, err
}

// close ends the stream and waits for its reader.
func (s *backendSource) close() {
	s.end()
	s.stream.Close()
	for range s.batches {
	}
}
