package cache

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestResumeOfAnotherHistory: a backend that was away comes back with data of before, and was written beyond what the
// cache had. The cache finds out by itself, and a history that is what it was costs it nothing.
func TestResumeOfAnotherHistory(t *testing.T) {
	const snapshot = 5 // of a, b, c and d, the last of which is at 5
	elsewhere := func(n int) func(f *fake) {
		return func(f *fake) {
			for range n {
				f.put("|", "/elsewhere")
			}
		}
	}
	both := func(all ...func(f *fake)) func(f *fake) {
		return func(f *fake) {
			for _, do := range all {
				do(f)
			}
		}
	}
	put := func(value, key string) func(f *fake) { return func(f *fake) { f.put(value, toys+key) } }
	remove := func(key string) func(f *fake) { return func(f *fake) { f.remove(toys + key) } }
	compacted := func(f *fake) { f.compact(f.revision - 1) }
	for _, test := range []struct {
		name       string
		before     func(f *fake) // what the cache has seen behind the snapshot
		after      func(f *fake) // what there is instead; nil is the same
		want       string        // in the log, "" is nothing
		found      string        // by the comparison in the background
		comparison bool
		compacted  bool // while it was away
	}{
		{name: "the same", before: put("|1", "e")},
		{name: "the same, with a removal at its end", before: both(put("|1", "e"), remove("a"))},
		{name: "the same, and quiet", before: elsewhere(10)},
		{name: "the same, compacted", before: elsewhere(10), compacted: true, comparison: true},
		{name: "the same, compacted behind a removal", before: both(remove("a"), elsewhere(10)), compacted: true,
			comparison: true},
		{name: "the newest change is lost", before: put("|1", "e"), after: elsewhere(10),
			want: "no longer has the change of /registry/toys/e at revision 6"},
		{name: "a removal is lost", before: remove("a"), after: elsewhere(10),
			want: "no longer has the change of /registry/toys/a at revision 6"},
		{name: "a removal came later", before: both(remove("a"), elsewhere(5)),
			after: both(elsewhere(2), remove("a"), elsewhere(10)), want: "no longer has the change"},
		{name: "the same key and revision, another value", before: put("|1", "e"),
			after: both(put("|2", "e"), elsewhere(10)), want: "/registry/toys/e hashes to"},
		{name: "more changes of the newest", before: both(put("|1", "e"), elsewhere(5)), after: both(put("|1", "e"),
			put("|1", "e"), elsewhere(10)), want: "no longer has the change of /registry/toys/e"},
		{name: "a write in a quiet time", before: elsewhere(10),
			after: both(elsewhere(5), put("|1", "e"), elsewhere(10)), want: "/registry/toys/e, which is not known"},
		{name: "a removal in a quiet time", before: elsewhere(10), after: both(elsewhere(5), remove("a"),
			elsewhere(10)), want: "/registry/toys/a, known at revision 2, was deleted at 11"},
		{name: "an update in a quiet time", before: elsewhere(10), after: both(put("|9", "a"), elsewhere(15)),
			want: "the cache has /registry/toys/a at revision 2, the backend at 6"},
		{name: "one more, compacted", before: elsewhere(10),
			after: both(put("|1", "e"), elsewhere(12), compacted, elsewhere(10)), want: "the revision was compacted"},
		{name: "one more, the end is not compacted", before: elsewhere(10),
			after: both(put("|1", "e"), elsewhere(7), compacted, elsewhere(10)), want: "it has 5 objects, and had 4"},
		{name: "one less", before: elsewhere(10), after: both(remove("a"), elsewhere(7), compacted, elsewhere(10)),
			want: "it has 3 objects, and had 4"},
		{name: "another newest", before: elsewhere(10), after: both(put("|5", "d"), elsewhere(7), compacted,
			elsewhere(10)), want: "the cache has /registry/toys/d at revision 5, the backend at 6"},
		{name: "the newest is gone", before: elsewhere(10), after: both(remove("d"), put("|1", "e"), elsewhere(7),
			compacted, elsewhere(10)), want: "that it has /registry/toys/d is false"},
		{name: "another one, compacted", before: elsewhere(10), after: both(put("|1", "a"), elsewhere(7), compacted,
			elsewhere(10)), comparison: true, found: "the cache has /registry/toys/a at revision 2, the backend at 6"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, log := newFake(), &lines{}
			for _, key := range []string{"a", "b", "c", "d"} {
				f.put("|"+key, toys+key)
			}
			config := toyConfig(f)
			config.Logger, config.SuspectPause = slog.New(slog.NewTextHandler(log, nil)), time.Hour
			c := start(t, config)
			test.before(f)
			have := f.revision
			if s, err := c.Consistent(t.Context()); err != nil || s.Revision() < have {
				t.Fatal(err)
			}
			f.change(func() { f.down = true })
			eventually(t, func() bool { return c.Ready() != nil })
			if test.after != nil {
				f.rollBack(snapshot)
				test.after(f)
			}
			if test.compacted {
				compacted(f)
			}
			f.change(func() { f.down = false })
			last := f.put("|last", toys+"last")
			eventually(t, func() bool {
				s, err := c.Current()
				return err == nil && c.Ready() == nil &&
					s.Revision() >= last
			})
			if test.comparison {
				eventually(t, func() bool {
					s := c.Stats()
					return s.Checks+s.Differences == 1 && (test.found == "" || s.Fills == 2)
				})
			}
			eventually(t, func() bool { return c.Ready() == nil })
			if err := c.Check(t.Context()); err != nil {
				t.Errorf("in the end: %v", err)
			}
			s := c.Stats()
			log.mu.Lock()
			text := log.text.String()
			log.mu.Unlock()
			if anew := test.want+test.found != ""; anew != (s.Fills == 2) || s.Fills > 2 {
				t.Errorf("it was filled %d times:\n%s", s.Fills, text)
			}
			if !strings.Contains(text, test.want+test.found) || (s.Differences == 1) != (test.found != "") {
				t.Errorf("%d differences; logged, want %q:\n%s", s.Differences, test.want+test.found, text)
			}
		})
	}
}

// TestResumeIsBounded: a resumption asks the backend for as much, whatever the number of objects.
func TestResumeIsBounded(t *testing.T) {
	f := newFake()
	for i := range 3000 {
		f.put("|", toys+string(rune('a'+i%26))+strings.Repeat("x", i/26))
	}
	c := start(t, toyConfig(f))
	before := f.pages
	for range 5 {
		resumes := c.Stats().Resumes
		f.breakStreams()
		eventually(t, func() bool { return c.Stats().Resumes > resumes && c.Ready() == nil })
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := c.Stats(); f.pages != before || s.Fills != 1 || s.Batches > 100 {
		t.Errorf("5 resumptions read %d pages, filled %d times, and took %d batches", f.pages-before, s.Fills,
			s.Batches)
	}
}

// TestDifferenceOfAnotherBackendIsNone: the self-check doesn't take a backend that was replaced for a cache that is
// wrong.
func TestDifferenceOfAnotherBackendIsNone(t *testing.T) {
	f := newFake()
	f.put("|a", toys+"a")
	last := f.put("|b", toys+"b")
	c := start(t, toyConfig(f))
	f.change(func() { f.stalled = true }) // the watch hears nothing yet
	f.rollBack(last - 1)
	f.put("|other", toys+"b")
	f.put("|c", toys+"c")
	checked := make(chan error, 1)
	go func() { checked <- c.Check(t.Context()) }()
	f.breakStreams()
	f.change(func() { f.stalled = false })
	if err := <-checked; errors.Is(err, ErrInconsistent) {
		t.Errorf("the check says: %v", err)
	}
	eventually(t, func() bool { return c.Ready() == nil && c.Stats().Fills == 2 })
	if s := c.Stats(); s.Differences != 0 || s.RollBacks != 1 {
		t.Errorf("%d differences, %d roll-backs", s.Differences, s.RollBacks)
	}
}
