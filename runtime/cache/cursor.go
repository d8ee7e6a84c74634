package cache

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// EventType is what an event means to one cursor, with its match applied to the state before and after.
type EventType uint8

// The types of events.
const (
	Added EventType = iota
	Modified
	Deleted
)

// Event is one change as a cursor sees it.
type Event struct {
	Type EventType
	// Entry is the state after the change; of a Deleted event it is the last matching state before, restamped with the
	// revision of the change.
	Entry *Entry
	// Revision is that of the change.
	Revision int64
}

// maxEvents bounds what Next returns; idleEvents is the room for events that a waiting cursor keeps.
const (
	maxEvents  = 128
	idleEvents = 4
)

var errClosed = errors.New("the cursor was closed")

// Cursor is a watcher: a place in the log. It has one reader, and neither queue nor goroutine.
type Cursor struct {
	generation *generation
	topic      *topic
	// log is the topic's or, until the topic's beginning is reached, that of all changes.
	log      *log
	place    uint64 // of the next change to look at
	prefix   string
	match    Match
	after    int64
	revision int64
	events   []Event
	err      error // for good
	closed   bool
	// lenient: PassCorrupt was called.
	lenient bool
}

// PassCorrupt has changes of and to values that can't be decoded told as events, instead of ending the cursor: with an
// Entry whose Err isn't nil, which for a Deleted event is the state before as it was. It is called before the first Next, on a
// cursor that selects nothing.
func (w *Cursor) PassCorrupt() { w.lenient = true }

// Next waits until there is something to tell and returns it, at most a bounded number of events and what else is of the
// last one's revision; the slice is valid until the next call. ErrExpired where the cursor fell out of the window or the
// cache was dropped, ctx's error where it ended; a corrupt value that the cursor covers is returned as an error that wraps
// ErrCorrupt. After an error of ctx Next may be called again, and nothing is lost; after others it returns the same error.
func (w *Cursor) Next(ctx context.Context) ([]Event, error) {
	w.events = w.events[:0]
	for {
		ended := ctx.Err()
		if ended != nil && w.err == nil {
			w.skip()
			return nil, ended
		}
		wait, err := w.collect(maxEvents)
		switch {
		case len(w.events) > 0:
			return w.events, nil
		case err != nil:
			w.err = err
			return nil, err
		}
		w.rest()
		select {
		case <-wait:
		case <-ctx.Done():
		}
	}
}

// skip advances the revision past changes that don't concern the cursor, and stops before one that does.
func (w *Cursor) skip() {
	// What is found is not consumed: it is collected again by the next call.
	_, _ = w.collect(0) // an error is found again, too
}

// collect gathers at most limit events, but for those of one revision. Where there are none, wait is closed when it is
// worth to look again.
func (w *Cursor) collect(limit int) (wait <-chan struct{}, err error) {
	switch {
	case w.err != nil:
		return nil, w.err
	case w.closed:
		return nil, errClosed
	case w.generation.ctx.Err() != nil:
		return nil, w.expired(context.Cause(w.generation.ctx))
	}
	s, v := w.generation.state.Load(), w.log.view.Load()
	if w.place < v.first {
		return nil, w.expired(fmt.Errorf("the watcher at revision %d is too slow, the window begins at %d", w.revision, v.floor))
	}
	for ; w.place < v.end; w.place++ {
		c := v.at(w.place)
		if w.log != w.topic.log && c.revision > w.topic.since {
			break
		}
		if c.revision > s.revision { // its state is about to be published
			w.come(s.revision)
			return s.changed, nil
		}
		event, concerns, err := w.meaning(c)
		if concerns && (err != nil || w.full(limit, c.revision)) {
			w.come(c.revision - 1)
			return nil, err
		}
		if concerns {
			w.events = append(w.events, event)
		}
	}
	if w.log != w.topic.log {
		w.log, w.place = w.topic.log, 0
		return w.collect(limit)
	}
	w.come(s.revision)
	return v.changed, nil
}

// full tells that no event of a revision is taken any more. One revision may have many, where a lease ends or somebody else
// wrote several keys at once; they stay together, since who goes on from one of them later would miss the others.
func (w *Cursor) full(limit int, revision int64) bool {
	n := len(w.events)
	return n >= limit && (n == 0 || w.events[n-1].Revision != revision)
}

// come notes that everything up to revision was told.
func (w *Cursor) come(revision int64) { w.revision = max(w.revision, revision) }

// meaning tells what a change is to this cursor, and whether it concerns it at all.
func (w *Cursor) meaning(c *change) (event Event, concerns bool, err error) {
	if c.revision <= w.after || !strings.HasPrefix(c.key(), w.prefix) {
		return Event{}, false, nil
	}
	if w.lenient && (c.entry.corrupt() || c.previous.corrupt()) {
		return corruptEvent(c), true, nil
	}
	if c.entry.corrupt() {
		return Event{}, true, c.entry.Err()
	}
	now := w.takes(c.entry)
	if c.previous.corrupt() {
		// What the watcher knows of this object, if anything, is older than the corrupt value. A state that it selects
		// replaces that; that the object left cannot be told, since nobody knows how it looked.
		if !now {
			return Event{}, true, c.previous.Err()
		}
		return Event{Type: Added, Entry: c.entry, Revision: c.revision}, true, nil
	}
	before := w.takes(c.previous)
	switch {
	case now && before:
		return Event{Type: Modified, Entry: c.entry, Revision: c.revision}, true, nil
	case now:
		return Event{Type: Added, Entry: c.entry, Revision: c.revision}, true, nil
	case before:
		return Event{Type: Deleted, Entry: c.departed(), Revision: c.revision}, true, nil
	}
	return Event{}, false, nil
}

// corruptEvent is what is told of a change of or to what can't be decoded.
func corruptEvent(c *change) Event {
	switch {
	case c.entry == nil:
		return Event{Type: Deleted, Entry: c.previous, Revision: c.revision}
	case c.previous == nil || c.previous.corrupt() && !c.entry.corrupt():
		return Event{Type: Added, Entry: c.entry, Revision: c.revision}
	}
	return Event{Type: Modified, Entry: c.entry, Revision: c.revision}
}

func (w *Cursor) takes(e *Entry) bool { return e != nil && (w.match == nil || w.match(e)) }

func (w *Cursor) expired(why error) error {
	w.generation.shared.counts.expired.Add(1)
	return fmt.Errorf("%w: %w", ErrExpired, why)
}

// rest lets go of what the cursor needn't keep alive while it waits.
func (w *Cursor) rest() {
	clear(w.events[:cap(w.events)])
	if cap(w.events) > idleEvents {
		w.events = nil
	}
}

// Revision is how far the cursor has come: every matching event up to and including it was returned. It advances with
// the backend's progress when Next is called, also while nothing matches, and also when the call ends with its ctx.
func (w *Cursor) Revision() int64 { return w.revision }

// Arrived tells whether the backend has come to the revision that the cursor began behind, which may be of the future.
func (w *Cursor) Arrived() bool { return w.generation.state.Load().revision >= w.after }

// Close releases the cursor. It may be called more than once, but not while Next is running.
func (w *Cursor) Close() {
	if !w.closed {
		w.closed = true
		w.generation.release(w.topic)
	}
}
