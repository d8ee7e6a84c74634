package cache

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// EventType is the type of an event for one cursor: its match was applied to the states before and after the change.
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
	// Entry is the state after the change. The entry of a Deleted event is the last matching state before the change,
	// with the revision of the change.
	Entry *Entry
	// Revision is the revision of the change.
	Revision int64
}

// maxEvents bounds the events that Next returns; idleEvents bounds the room for events that a waiting cursor keeps.
const (
	maxEvents  = 128
	idleEvents = 4
)

var errClosed = errors.New("the cursor was closed")

// Cursor is a watcher: a place in the log. It has one reader, and neither a queue nor a goroutine.
type Cursor struct {
	generation *generation
	topic      *topic
	// log is the log of the topic or, until the beginning of the topic is reached, the log of all changes.
	log      *log
	place    uint64 // of the next change to look at
	prefix   string
	match    Match
	after    int64
	revision int64
	events   []Event
	err      error // every further Next returns it
	closed   bool
	// passCorrupt: PassCorrupt was called.
	passCorrupt bool
}

// PassCorrupt makes the cursor return changes of and to corrupt values as events, instead of ending with an error. Such
// an event has an Entry whose Err isn't nil; that of a Deleted event is the state before the change. PassCorrupt is
// called before the first Next, on a cursor that selects nothing.
func (w *Cursor) PassCorrupt() { w.passCorrupt = true }

// Next waits for events and returns them: at most a bounded number, and all further events of the last one's revision.
// The slice is valid until the next call. Next fails with ErrExpired where the window no longer has the cursor's place
// or the cache was dropped, with an error that wraps ErrCorrupt where a value that the cursor covers is corrupt, and
// with ctx's error where ctx ends. After an error of ctx the caller may call Next again and loses nothing; after other
// errors Next returns the same error.
func (w *Cursor) Next(ctx context.Context) ([]Event, error) {
	w.events = w.events[:0]
	for {
		ended := ctx.Err()
		if ended != nil && w.err == nil {
			// This only advances the revision past changes that don't concern the cursor. The next call collects the
			// events again, and finds the error again.
			_, _ = w.collect(0)
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
		w.shrink()
		select {
		case <-wait:
		case <-ctx.Done():
		}
	}
}

// collect gathers at most limit events, and all further events of the last one's revision. Where there are none, wait
// is closed when another call may find some.
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
		return nil, w.expired(fmt.Errorf("the watcher at revision %d is too slow, the window begins at %d", w.revision,
			v.floor))
	}
	for ; w.place < v.end; w.place++ {
		c := v.at(w.place)
		if w.log != w.topic.log && c.revision > w.topic.since {
			break
		}
		if c.revision > s.revision { // the state of this change is about to be published
			w.advance(s.revision)
			return s.changed, nil
		}
		event, concerns, err := w.eventOf(c)
		if concerns && (err != nil || w.full(limit, c.revision)) {
			w.advance(c.revision - 1)
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
	w.advance(s.revision)
	return v.changed, nil
}

// full reports whether the cursor takes no event of a revision any more. One revision may have many events, where a
// lease ends or another program writes several keys at once. They stay together, since a client that resumes from one
// of them would miss the others.
func (w *Cursor) full(limit int, revision int64) bool {
	n := len(w.events)
	return n >= limit && (n == 0 || w.events[n-1].Revision != revision)
}

// advance records that the cursor has returned everything up to a revision.
func (w *Cursor) advance(revision int64) { w.revision = max(w.revision, revision) }

// eventOf returns the event that a change is for this cursor, and whether the change concerns the cursor at all.
func (w *Cursor) eventOf(c *change) (event Event, concerns bool, err error) {
	if c.revision <= w.after || !strings.HasPrefix(c.key(), w.prefix) {
		return Event{}, false, nil
	}
	if w.passCorrupt && (c.entry.corrupt() || c.previous.corrupt()) {
		return corruptEvent(c), true, nil
	}
	if c.entry.corrupt() {
		return Event{}, true, c.entry.Err()
	}
	event = Event{Type: Added, Entry: c.entry, Revision: c.revision}
	now := w.selects(c.entry)
	if c.previous.corrupt() {
		// If the watcher knows a state of this object, that state is older than the corrupt value. A state that the
		// watcher selects replaces it. A deletion can't be reported, since nobody knows the last state.
		if !now {
			return Event{}, true, c.previous.Err()
		}
		return event, true, nil
	}
	before := w.selects(c.previous)
	switch {
	case now && before:
		event.Type = Modified
	case before:
		event.Type, event.Entry = Deleted, c.deletedEntry()
	}
	return event, now || before, nil
}

func corruptEvent(c *change) Event {
	event := Event{Type: Modified, Entry: c.entry, Revision: c.revision}
	switch {
	case c.entry == nil:
		event.Type, event.Entry = Deleted, c.previous
	case c.previous == nil || c.previous.corrupt() && !c.entry.corrupt():
		event.Type = Added
	}
	return event
}

func (w *Cursor) selects(e *Entry) bool { return e != nil && (w.match == nil || w.match(e)) }

func (w *Cursor) expired(why error) error {
	w.generation.shared.counts.expired.Add(1)
	return fmt.Errorf("%w: %w", ErrExpired, why)
}

// shrink drops the events, which a waiting cursor needn't keep alive.
func (w *Cursor) shrink() {
	clear(w.events[:cap(w.events)])
	if cap(w.events) > idleEvents {
		w.events = nil
	}
}

// Revision returns how far the cursor has come: it has returned every matching event up to and including this revision.
// The revision advances with the backend's progress when Next is called, also while nothing matches, and also when the
// call ends with its ctx.
func (w *Cursor) Revision() int64 { return w.revision }

// Arrived reports whether the backend has reached the revision after which the cursor began. That revision may be of
// the future.
func (w *Cursor) Arrived() bool { return w.generation.state.Load().revision >= w.after }

// Close releases the cursor. It may be called more than once, but not while Next is running.
func (w *Cursor) Close() {
	if !w.closed {
		w.closed = true
		w.generation.release(w.topic)
	}
}
