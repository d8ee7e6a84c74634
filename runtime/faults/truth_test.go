package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/storage"
)

const keys = "/registry/library.example.com/books/default/"

// book is as much of an object as the checks want.
type book struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Metadata   struct {
		Name            string            `json:"name,omitempty"`
		Namespace       string            `json:"namespace,omitempty"`
		ResourceVersion string            `json:"resourceVersion,omitempty"`
		Annotations     map[string]string `json:"annotations,omitempty"`
	} `json:"metadata"`
	Spec struct {
		Title string `json:"title,omitempty"`
		Genre string `json:"genre,omitempty"`
	} `json:"spec"`
}

// version is one state of one object; revision 0 is none.
type version struct {
	revision     int64
	title, genre string
}

// change is an entry of etcd's log.
type change struct {
	revision int64
	name     string
	// now and before are states; a deletion has no now, a creation no before.
	now, before version
}

// truth is etcd's log of the books, as a watch of its own tells it.
type truth struct {
	backend storage.Backend

	mu      sync.Mutex
	changes []change
	state   map[string]version
	reached int64
	moved   chan struct{} // closed when reached moves
	failed  error
}

// observe follows the log, from now until the test ends.
func observe(t testing.TB, backend storage.Backend) *truth {
	t.Helper()
	return observeFrom(t, backend, revisionOf(t, backend))
}

// revisionOf is etcd's, once it tells: its members may be electing.
func revisionOf(t testing.TB, backend storage.Backend) int64 {
	t.Helper()
	for late := time.Now().Add(startTimeout); ; {
		revision, err := backend.Revision(t.Context())
		if err == nil {
			return revision
		}
		if time.Now().After(late) {
			t.Fatal(err)
		}
	}
}

// observeFrom follows the log after a revision at which there was no book yet.
func observeFrom(t testing.TB, backend storage.Backend, after int64) *truth {
	o := &truth{backend: backend, state: map[string]version{}, reached: after, moved: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	var following sync.WaitGroup
	following.Go(func() { o.follow(ctx) })
	t.Cleanup(func() { cancel(); following.Wait() })
	return o
}

func (o *truth) follow(ctx context.Context) {
	for ctx.Err() == nil {
		err := o.stream(ctx)
		var compacted *storage.CompactedError
		if errors.As(err, &compacted) {
			o.mu.Lock()
			o.failed = fmt.Errorf("the test compacted what it had not seen yet: %w", err)
			close(o.moved)
			o.moved = make(chan struct{})
			o.mu.Unlock()
			return
		}
		select {
		case <-time.After(20 * time.Millisecond): // etcd is away
		case <-ctx.Done():
		}
	}
}

func (o *truth) stream(ctx context.Context) error {
	o.mu.Lock()
	after := o.reached
	o.mu.Unlock()
	stream, err := o.backend.Watch(ctx, keys, after)
	if err != nil {
		return err
	}
	defer stream.Close()
	asking, stop := context.WithCancel(ctx)
	var requesting sync.WaitGroup
	defer requesting.Wait()
	defer stop()
	requesting.Go(func() { // so that reached follows what is written elsewhere
		for tick := time.NewTicker(50 * time.Millisecond); asking.Err() == nil; {
			select {
			case <-tick.C:
				_ = stream.RequestProgress(asking) // its failure is the reader's, too
			case <-asking.Done():
				tick.Stop()
			}
		}
	})
	for {
		batch, err := stream.Next(ctx)
		if err != nil {
			return err
		}
		o.apply(batch)
	}
}

func (o *truth) apply(batch storage.Batch) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, event := range batch.Events {
		if event.Revision <= o.reached {
			continue
		}
		c := change{revision: event.Revision, name: strings.TrimPrefix(event.Key, keys)}
		c.before = o.state[c.name]
		if event.Deleted {
			delete(o.state, c.name)
		} else {
			var b book
			if err := json.Unmarshal(event.Value, &b); err != nil {
				o.failed = fmt.Errorf("%s at revision %d is not JSON: %w", event.Key, event.Revision, err)
			}
			c.now = version{event.Revision, b.Spec.Title, b.Spec.Genre}
			o.state[c.name] = c.now
		}
		o.changes = append(o.changes, c)
	}
	if batch.Revision > o.reached {
		o.reached = batch.Revision
		close(o.moved)
		o.moved = make(chan struct{})
	}
}

// seen is how far the log has been read.
func (o *truth) seen() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.reached
}

// until waits for a revision and returns the log up to it.
func (o *truth) until(t testing.TB, revision int64) *log {
	t.Helper()
	late := time.After(startTimeout)
	for {
		o.mu.Lock()
		reached, moved, err, changes := o.reached, o.moved, o.failed, o.changes
		o.mu.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		if reached >= revision {
			return newLog(changes)
		}
		select {
		case <-moved:
		case <-late:
			t.Fatalf("etcd's log has come to revision %d, not to %d, after %s", reached, revision, startTimeout)
		}
	}
}

// log is what happened, in order.
type log struct {
	changes []change
	titles  map[string]change   // by the title that was written
	objects map[string][]change // by name
}

func newLog(changes []change) *log {
	l := &log{changes: changes, titles: map[string]change{}, objects: map[string][]change{}}
	for _, c := range changes {
		if c.now.revision > 0 {
			l.titles[c.now.title] = c
		}
		l.objects[c.name] = append(l.objects[c.name], c)
	}
	return l
}

// between returns the changes above one revision, up to another.
func (l *log) between(after, until int64) []change {
	from := sort.Search(len(l.changes), func(i int) bool { return l.changes[i].revision > after })
	to := sort.Search(len(l.changes), func(i int) bool { return l.changes[i].revision > until })
	return l.changes[from:max(from, to)]
}

// at is the state at a revision.
func (l *log) at(revision int64) map[string]version {
	state := map[string]version{}
	for name, changes := range l.objects {
		i := sort.Search(len(changes), func(i int) bool { return changes[i].revision > revision })
		if i > 0 && changes[i-1].now.revision > 0 {
			state[name] = changes[i-1].now
		}
	}
	return state
}
