package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// event is one of a watch.
type event struct {
	kind string
	name string
	version
}

// segment is an unbroken piece of a watch: what was told after one revision, up to another, across any number of
// connections.
type segment struct {
	after, until int64
	events       []event
}

// watcher follows the books as a client does: it lists, watches, resumes where it was, at any server, and lists again
// when it is told that it came too late. It has one goroutine.
type watcher struct {
	id       int
	genre    string // selects; "" is all
	stream   bool   // begins with the objects as events, instead of a list
	random   *rand.Rand
	replicas []*replica
	now      func() int64

	reached  atomic.Int64
	segments []*segment
	lists    []*listing // without a genre
	resumed  int
	problem  error
}

// run watches until ctx ends.
func (w *watcher) run(ctx context.Context) {
	for ctx.Err() == nil && w.problem == nil {
		replica := w.replicas[w.random.IntN(len(w.replicas))]
		if len(w.segments) == 0 {
			w.begin(ctx, replica)
		} else {
			w.resume(ctx, replica)
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// begin lists.
func (w *watcher) begin(ctx context.Context, r *replica) {
	if w.stream {
		w.open(ctx, r, &segment{after: -1}, "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, haste)
	defer cancel()
	if list, ok := fetch(ctx, r, w.id%2 == 0, w.now); ok {
		w.lists = append(w.lists, list)
		w.segments = append(w.segments, &segment{after: list.revision, until: list.revision})
	}
}

func (w *watcher) resume(ctx context.Context, r *replica) {
	s := w.segments[len(w.segments)-1]
	if s == nil { // what it had is lost
		w.begin(ctx, r)
		return
	}
	w.resumed++
	w.open(ctx, r, s, "&resourceVersion="+strconv.FormatInt(s.until, 10))
}

// open watches until the connection ends.
func (w *watcher) open(ctx context.Context, r *replica, s *segment, query string) {
	// A server that was halted keeps the connection: a client gives it up after a while.
	ctx, cancel := context.WithTimeout(ctx, time.Duration(1000+w.random.IntN(3000))*time.Millisecond)
	defer cancel()
	url := r.url + path + "?watch=1&allowWatchBookmarks=true&timeoutSeconds=3" + query
	if w.genre != "" {
		url += "&fieldSelector=spec.genre%3D" + w.genre
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		w.problem = err
		return
	}
	response, err := r.watcher.Do(request)
	if err != nil {
		return
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusGone:
		w.lose()
		return
	default:
		return
	}
	initial := map[string]version{}
	for decoder := json.NewDecoder(response.Body); ; {
		var e struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if err := decoder.Decode(&e); err != nil {
			return
		}
		if !w.take(s, e.Type, e.Object, initial) {
			return
		}
	}
}

// lose ends a segment: its end is not followed by the next one's beginning.
func (w *watcher) lose() {
	if n := len(w.segments); n > 0 && w.segments[n-1] != nil {
		w.segments = append(w.segments, nil)
	}
}

// take notes an event. A segment that begins with the objects has after -1 until they are complete.
func (w *watcher) take(s *segment, kind string, object []byte, initial map[string]version) bool {
	if kind == "ERROR" {
		var status struct{ Code int }
		if err := json.Unmarshal(object, &status); err != nil || status.Code == 0 {
			w.problem = fmt.Errorf("an ERROR event that is no status: %s", object)
		}
		if status.Code == http.StatusGone {
			w.lose()
		}
		return false
	}
	var b book
	if err := json.Unmarshal(object, &b); err != nil {
		w.problem = fmt.Errorf("an event that can't be read: %w: %s", err, object)
		return false
	}
	v := versionOf(&b)
	switch {
	case s.after < 0 && kind == "ADDED":
		initial[b.Metadata.Name] = v
		return true
	case s.after < 0 && kind == "BOOKMARK":
		if b.Metadata.Annotations["k8s.io/initial-events-end"] != "true" {
			return true
		}
		s.after, s.until = v.revision, v.revision
		w.segments = append(w.segments, s)
		if w.genre == "" {
			w.lists = append(w.lists, &listing{call: w.now(), revision: v.revision, items: initial})
		}
	case s.after < 0:
		w.problem = fmt.Errorf("%s of %s among the initial events", kind, b.Metadata.Name)
		return false
	case kind != "BOOKMARK":
		s.events = append(s.events, event{kind, b.Metadata.Name, v})
	}
	if v.revision < s.until {
		w.problem = fmt.Errorf("%s of %s at revision %d after all up to %d was told", kind, b.Metadata.Name,
			v.revision, s.until)
		return false
	}
	s.until = v.revision
	w.reached.Store(v.revision)
	return true
}

// expected is what a watch has to tell.
func expected(changes []change, genre string) (events []event) {
	takes := func(v version) bool { return v.revision > 0 && (genre == "" || v.genre == genre) }
	for _, c := range changes {
		last := c.before
		// what is told of an object that goes is its last state, at the revision of its going
		last.revision = c.revision
		switch before, now := takes(c.before), takes(c.now); {
		case before && now:
			events = append(events, event{"MODIFIED", c.name, c.now})
		case now:
			events = append(events, event{"ADDED", c.name, c.now})
		case before:
			events = append(events, event{"DELETED", c.name, last})
		}
	}
	return events
}

// checkWatch holds what a watcher was told against the log.
func checkWatch(l *log, w *watcher) error {
	errs := []error{w.problem}
	for _, s := range w.segments {
		if s == nil {
			continue
		}
		want := expected(l.between(s.after, s.until), w.genre)
		for i := range max(len(want), len(s.events)) {
			switch {
			case i == len(want):
				errs = append(errs, fmt.Errorf("watcher %d, after %d up to %d: told %+v, of which the log knows "+
					"nothing", w.id, s.after, s.until, s.events[i]))
			case i == len(s.events):
				errs = append(errs, fmt.Errorf("watcher %d, after %d up to %d: not told %+v", w.id, s.after,
					s.until, want[i]))
			case want[i] != s.events[i]:
				errs = append(errs, fmt.Errorf("watcher %d, after %d up to %d: told %+v, the log has %+v", w.id,
					s.after, s.until, s.events[i], want[i]))
			default:
				continue
			}
			break
		}
	}
	return errors.Join(errs...)
}
