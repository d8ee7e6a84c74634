package cache

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"apigen.dev/runtime/storage"
)

// fedCache is a cache that the test feeds by hand.
func fedCache(t *testing.T, config Config) (*Cache, *generation) {
	t.Helper()
	c := New(config)
	g, err := c.fill(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.generation.Store(g)
	return c, g
}

func (c *Cache) feed(t *testing.T, g *generation, key, value string, revision int64) {
	t.Helper()
	e := storage.Event{KeyValue: storage.KeyValue{Key: toys + key, Value: []byte(value), Revision: revision}}
	e.Deleted = value == ""
	if err := c.apply(g, storage.Batch{Events: []storage.Event{e}, Revision: revision}); err != nil {
		t.Fatal(err)
	}
}

// TestCursorIsNotAheadOfTheState: a log is published before the state that it belongs to. In between, a cursor returns
// nothing, or a client that saw an event could read an older state; and it waits for the state, not for the log.
func TestCursorIsNotAheadOfTheState(t *testing.T) {
	_, g := fedCache(t, toyConfig(newFake()))
	for _, prefix := range []string{toys, toys + "a/"} {
		w, err := g.watch(prefix, nil, g.state.Load().revision, nil)
		if err != nil {
			t.Fatal(err)
		}
		before := g.state.Load()
		revision := before.revision + 1
		e := g.shared.decode(&storage.KeyValue{Key: toys + "a/x", Value: []byte("x"), Revision: revision})
		g.record(&e, 0)
		g.all.log.publish()
		w.topic.log.publish()
		wait, err := w.collect(maxEvents)
		if err != nil || len(w.events) > 0 || w.Revision() != before.revision ||
			wait != (<-chan struct{})(before.changed) {
			t.Errorf("%s: before the state was published, the cursor is at %d and returned %d events, %v", prefix,
				w.Revision(), len(w.events), err)
		}
		g.state.Store(&state{Snapshot: Snapshot{revision: revision, root: g.tree.Freeze()}, end: g.all.log.end,
			changed: make(chan struct{})})
		if _, err := w.collect(maxEvents); err != nil || len(w.events) != 1 || w.Revision() != revision {
			t.Errorf("%s: after it was published, the cursor is at %d and returned %d events, %v", prefix, w.Revision(),
				len(w.events), err)
		}
	}
}

// TestRevisionIsNotClaimedTooEarly: a cursor has returned everything up to its Revision, at any moment.
func TestRevisionIsNotClaimedTooEarly(t *testing.T) {
	config := toyConfig(newFake())
	config.Verify = false
	c, g := fedCache(t, config)
	const events = 20_000
	var watchers sync.WaitGroup
	for _, prefix := range []string{toys, toys + "a/"} {
		w, err := c.Watch(prefix, nil, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		watchers.Go(func() {
			for w.Revision() < events {
				w.Next(ended) // returns nothing, but advances its Revision
				claimed := w.Revision()
				if _, err := w.collect(maxEvents); err != nil {
					t.Error(err)
					return
				}
				if len(w.events) > 0 && w.events[0].Revision <= claimed {
					t.Errorf("%s: %d was returned after the cursor had said that it returned all up to %d", prefix,
						w.events[0].Revision, claimed)
					return
				}
				w.events = w.events[:0]
			}
		})
	}
	for revision := int64(2); revision <= events; revision++ {
		c.feed(t, g, "a/x", "x", revision)
	}
	watchers.Wait()
}

// TestFormsOfWhatIsGoneAreDropped: forms are kept of entries in the tree and in the window alone.
func TestFormsOfWhatIsGoneAreDropped(t *testing.T) {
	config := toyConfig(newFake())
	config.Window.Min, config.Window.Max = 4, 4
	c, g := fedCache(t, config)
	w, err := c.Watch(toys, nil, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for revision := int64(2); revision < 300; revision++ {
		value := "x"
		if revision%3 == 0 {
			value = ""
		}
		c.feed(t, g, fmt.Sprint("a/", revision/3%5), value, revision)
		w.events = w.events[:0]
		if _, err := w.collect(maxEvents); err != nil {
			t.Fatal(err)
		}
		for _, e := range w.events {
			if _, err := e.Entry.Rendition(otherOne); err != nil {
				t.Fatal(err)
			}
		}
	}
	live := map[*Entry]bool{}
	for e := range g.state.Load().Entries(toys, "") {
		live[e] = true
	}
	for place := g.all.log.first; place < g.all.log.end; place++ {
		change := g.all.log.at(place)
		live[change.entry], live[change.previous], live[change.deleted.Load()] = true, true, true
	}
	if len(g.shared.pool.ring) == 0 {
		t.Error("no forms are kept")
	}
	for _, p := range g.shared.pool.ring {
		if e := p.what.(*form).entry; !live[e] {
			t.Errorf("a form of %s at revision %d is kept", e.Key(), e.Revision())
		}
	}
}
