package cache

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/storage"
)

// seen is an event as tests compare it.
type seen struct {
	kind     EventType
	revision int64
	key      string
	text     string
}

func textOf(e *Entry) string {
	r, err := e.Rendition(toyForm)
	if err != nil {
		return err.Error()
	}
	return string(r.Payload)
}

// expected is what the backend's history means to a watcher: the naive model of a cursor.
func (f *fake) expected(prefix string, after, until int64, takes func(value string) bool) []seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []seen
	state := map[string]string{}
	for _, e := range f.history {
		old, had := state[e.Key]
		value := string(e.Value)
		if e.Deleted {
			delete(state, e.Key)
		} else {
			state[e.Key] = value
		}
		if e.Revision <= after || e.Revision > until || !strings.HasPrefix(e.Key, prefix) {
			continue
		}
		before, now := had && takes(old), !e.Deleted && takes(value)
		s := seen{revision: e.Revision, key: e.Key}
		switch {
		case now && before:
			s.kind, s.text = Modified, string(toyRendition(value, e.Revision).Payload)
		case now:
			s.kind, s.text = Added, string(toyRendition(value, e.Revision).Payload)
		case before:
			s.kind, s.text = Deleted, string(toyRendition(old, e.Revision).Payload)
		default:
			continue
		}
		out = append(out, s)
	}
	return out
}

func isRed(value string) bool { return strings.Contains(value, "color=red") }

func takesRed(e *Entry) bool { return e.Labels().Get("color") == "red" }

// scribble does random writes: of single keys, of several at one revision, deletions, and writes elsewhere.
func (f *fake) scribble(r *rand.Rand, writes int) {
	for i := range writes {
		one := func() string { return fmt.Sprintf("%s%c/%d", toys, 'a'+r.IntN(4), r.IntN(12)) }
		value := fmt.Sprintf("color=%s|%d", []string{"red", "blue"}[r.IntN(2)], i)
		switch r.IntN(10) {
		case 0:
			f.put("x", "/registry/others/x")
		case 1, 2:
			f.remove(one())
		case 3:
			keys := []string{one(), one(), one()}
			slices.Sort(keys)
			f.put(value, slices.Compact(keys)...)
		default:
			f.put(value, one())
		}
		if r.IntN(200) == 0 {
			f.breakStreams()
		}
	}
}

// TestCursorsTellExactlyOnce: while the backend is written to and the watch breaks, cursors of all kinds begin at
// different times, are interrupted and go on, and are begun again from their revision. Each has returned what the model
// says.
func TestCursorsTellExactlyOnce(t *testing.T) {
	f := newFake()
	f.scribble(rand.New(rand.NewPCG(9, 9)), 30)
	config := toyConfig(f)
	config.Window.Min = 100_000
	c := start(t, config)
	var writers, watchers sync.WaitGroup
	done := make(chan struct{})
	for i := range uint64(2) {
		writers.Go(func() { f.scribble(rand.New(rand.NewPCG(i, 0)), 1500) })
	}
	for i := range uint64(8) {
		watchers.Go(func() { followOnce(t, c, f, rand.New(rand.NewPCG(i, 1)), done) })
	}
	writers.Wait()
	close(done)
	watchers.Wait()
}

// followOnce follows until done, and then to the end of history.
func followOnce(t *testing.T, c *Cache, f *fake, r *rand.Rand, done <-chan struct{}) {
	prefix := toys + []string{"", "a/", "b/", "a/1"}[r.IntN(4)]
	takes, match := func(string) bool { return true }, Match(nil)
	if r.IntN(2) == 0 {
		takes, match = isRed, takesRed
	}
	s, err := c.Current()
	if err != nil {
		t.Error(err)
		return
	}
	first := s.Revision()
	w, err := c.Watch(prefix, nil, first, match)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { w.Close() }()
	var returned []seen
	var last int64 // the end of history, once it is known
	for last == 0 || w.Revision() < last {
		select {
		case <-done:
			if last == 0 {
				last = f.put("color=red", toys+"a/1")
			}
		default:
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(3000))*time.Microsecond)
		before := w.Revision()
		events, err := w.Next(ctx)
		cancel()
		for _, e := range events {
			returned = append(returned, seen{e.Type, e.Revision, e.Entry.Key(), textOf(e.Entry)})
		}
		if w.Revision() < before || (err != nil && !errors.Is(err, context.DeadlineExceeded)) {
			t.Errorf("at %d after %d: %v", w.Revision(), before, err)
			return
		}
		if errors.Is(err, context.DeadlineExceeded) && r.IntN(4) == 0 { // begin again from where it is
			next, err := c.Watch(prefix, nil, w.Revision(), match)
			if err != nil {
				t.Error(err)
				return
			}
			w.Close()
			w = next
		}
	}
	if want := f.expected(prefix, first, w.Revision(), takes); !slices.Equal(returned, want) {
		t.Errorf("%s: %d events were returned, not %d: %v", prefix, len(returned), len(want), firstOdd(returned, want))
	}
}

func firstOdd(got, want []seen) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("event %d is %v, not %v", i, got[i], want[i])
		}
	}
	return "one is longer"
}

// TestStatesAgainstModel compares the current state and states of the past with the backend's, while that is written
// to, through a window so narrow that much of the past is gone.
func TestStatesAgainstModel(t *testing.T) {
	f := newFake()
	f.scribble(rand.New(rand.NewPCG(3, 3)), 100)
	config := toyConfig(f)
	config.Window.Min, config.Window.Max, config.PageSize = 150, 300, 7
	c := start(t, config)
	var writer sync.WaitGroup
	writer.Go(func() { f.scribble(rand.New(rand.NewPCG(4, 4)), 2000) })
	r := rand.New(rand.NewPCG(5, 5))
	found, gone := 0, 0
	for range 600 {
		s, err := c.Current()
		if err != nil {
			t.Fatal(err)
		}
		compareState(t, f, s)
		past, err := c.At(t.Context(), max(1, s.Revision()-int64(r.IntN(400))))
		switch {
		case err == nil:
			compareState(t, f, past)
			found++
		case errors.Is(err, ErrExpired):
			gone++
		default:
			t.Fatal(err)
		}
	}
	writer.Wait()
	if found == 0 || gone == 0 {
		t.Errorf("%d old states were found, %d were gone", found, gone)
	}
	if s, err := c.Consistent(t.Context()); err == nil {
		compareState(t, f, s)
	}
}

func compareState(t *testing.T, f *fake, s *Snapshot) {
	t.Helper()
	f.mu.Lock()
	want := f.stateAt(s.Revision())
	f.mu.Unlock()
	maps.DeleteFunc(want, func(key string, _ storage.KeyValue) bool { return !strings.HasPrefix(key, toys) })
	n := 0
	for e := range s.Entries(toys, "") {
		kv, found := want[e.Key()]
		if !found || kv.Revision != e.Revision() || textOf(e) != string(toyRendition(string(kv.Value),
			kv.Revision).Payload) {
			t.Fatalf("at revision %d, %s is %s, not %+v", s.Revision(), e.Key(), textOf(e), kv)
		}
		n++
	}
	if n != len(want) || s.Count(toys, "") != n {
		t.Fatalf("at revision %d there are %d entries, count %d, not %d", s.Revision(), n, s.Count(toys, ""), len(want))
	}
}

// TestConsistentSeesWhatWasAcknowledged: every read that begins after a write was acknowledged sees it.
func TestConsistentSeesWhatWasAcknowledged(t *testing.T) {
	f := newFake()
	config := toyConfig(f)
	config.Progress, config.Wait = time.Millisecond, time.Minute
	c := start(t, config)
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			for n := range 150 {
				key, value := fmt.Sprintf("%sa/%d", toys, i), fmt.Sprintf("color=red|%d", n)
				revision := f.put(value, key)
				if n%3 == 0 {
					revision = f.put(value, "/registry/others/x")
				}
				s, err := c.Consistent(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				if e := s.Get(key); s.Revision() < revision || e == nil ||
					!strings.Contains(textOf(e), fmt.Sprintf("|%d\"", n)) {
					t.Errorf("the read of revision %d misses %s of revision %d", s.Revision(), value, revision)
				}
			}
		})
	}
	all.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	t.Logf("%d reads asked %d times", 6*150, f.asked)
}

// slowAsk is a backend whose answers wait until they are let go, one after the other.
type slowAsk struct {
	*fake
	answers chan struct{}
}

func (b slowAsk) Revision(ctx context.Context) (int64, error) {
	revision, err := b.fake.Revision(ctx)
	select {
	case <-b.answers:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	return revision, err
}

// TestQuestionsAreSharedButNotJoinedLate: those who wait share a question, but not one that was asked before they came.
func TestQuestionsAreSharedButNotJoinedLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := slowAsk{newFake(), make(chan struct{}, 1)}
		config := toyConfig(backend.fake)
		config.Backend = backend
		c := New(config)
		ctx, cancel := context.WithCancel(t.Context())
		go c.Run(ctx)
		backend.answers <- struct{}{} // the question before the watch
		synctest.Wait()
		backend.fake.asked = 0
		reads := make(chan int64, 10)
		read := func() {
			s, err := c.Consistent(ctx)
			if err != nil {
				t.Error(err)
			}
			reads <- s.Revision()
		}
		go read()
		synctest.Wait() // the first question is under way
		backend.put("x", toys+"a/1")
		for range 5 {
			go read()
		}
		synctest.Wait()
		backend.answers <- struct{}{}
		synctest.Wait()
		if len(reads) != 1 || <-reads < 1 {
			t.Errorf("%d reads were answered by the first question", len(reads)+1)
		}
		backend.answers <- struct{}{}
		synctest.Wait()
		for range 5 {
			if revision := <-reads; revision < 2 {
				t.Errorf("a read that began after revision 2 saw %d", revision)
			}
		}
		if backend.fake.asked != 2 {
			t.Errorf("%d questions were asked", backend.fake.asked)
		}
		cancel()
	})
}

// TestFillingIsOfOneRevision though it is paged and written to, and begins again where that revision was compacted.
func TestFillingIsOfOneRevision(t *testing.T) {
	f := newFake()
	for i := range 20 {
		f.put("x", fmt.Sprintf("%sa/%02d", toys, i))
	}
	f.onRange = func(page int) {
		f.put("y", fmt.Sprintf("%sa/%02d", toys, page*7%20))
		if page == 3 {
			f.compact(f.revision)
		}
	}
	config := toyConfig(f)
	config.PageSize = 4
	c := New(config)
	_, err := c.fill(t.Context())
	var compacted *storage.CompactedError
	if !errors.As(err, &compacted) {
		t.Fatalf("the revision that is read was compacted, and the error is %v", err)
	}
	g, err := c.fill(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	compareState(t, f, &g.state.Load().Snapshot)
}

// TestLateEventIsNotLost: a backend that promised too much is not believed any further.
func TestLateEventIsNotLost(t *testing.T) {
	f := newFake()
	f.put("x", toys+"a/1")
	c := New(toyConfig(f))
	g, err := c.fill(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	write := func(value string, revision int64) storage.Event {
		return storage.Event{KeyValue: storage.KeyValue{Key: toys + "a/1", Value: []byte(value), Revision: revision}}
	}
	for i, step := range []struct {
		batch storage.Batch
		fails bool
	}{
		{storage.Batch{Revision: 10}, false},
		{storage.Batch{Events: []storage.Event{write("x", 2)}, Revision: 10}, false}, // returned twice
		{storage.Batch{Events: []storage.Event{write("y", 7)}, Revision: 10}, true},
		{storage.Batch{Events: []storage.Event{write("z", 11)}}, false},
	} {
		if err := c.apply(g, step.batch); (err != nil) != step.fails {
			t.Errorf("batch %d: %v", i, err)
		}
	}
	if s := g.state.Load(); s.revision != 11 || s.Get(toys+"a/1").revision != 11 {
		t.Errorf("the state is at %d", s.revision)
	}
}

func TestRunsOnce(t *testing.T) {
	c := start(t, toyConfig(newFake()))
	if err := c.Run(t.Context()); err == nil {
		t.Error("it runs twice")
	}
}
