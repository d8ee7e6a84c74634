package cache

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"apigen.dev/runtime/storage"
)

// wanted is a lookup with the match that belongs to it.
type wanted struct {
	name   string
	lookup *Lookup
	match  Match
}

func wants() []wanted {
	red, name, both, in := &Lookup{}, &Lookup{}, &Lookup{}, &Lookup{}
	red.Field(Value{colorField, "red"})
	none := &Lookup{}
	none.Field(Value{colorField, ""})
	name.Field(Value{0, "x3"})
	both.Field(Value{colorField, "blue"})
	both.Label("size", "2")
	in.Label("color", "red", "green")
	in.Label("size", "1")
	return []wanted{
		{"everything", nil, func(*Entry) bool { return true }},
		{"field", red, func(e *Entry) bool { return e.Field(colorField) == "red" }},
		{"empty field", none, func(e *Entry) bool { return e.Field(colorField) == "" }},
		{"name, which has no index", name, func(e *Entry) bool { return e.Field(0) == "x3" }},
		{"field and label", both, func(e *Entry) bool {
			return e.Field(colorField) == "blue" &&
				e.Labels().Get("size") == "2"
		}},
		{"labels", in, func(e *Entry) bool {
			color := e.Labels().Get("color")
			return (color == "red" || color == "green") && e.Labels().Get("size") == "1"
		}},
	}
}

// randomWrites feeds a cache with creations, changes, deletions and, now and then, corrupt values.
func randomWrites(t *testing.T, c *Cache, g *generation, r *rand.Rand, n int, corrupt bool) {
	t.Helper()
	for range n {
		key := fmt.Sprintf("ns%d/x%d", r.IntN(3), r.IntN(40))
		value := fmt.Sprintf("color=%s,size=%d|", []string{"red", "green", "blue", ""}[r.IntN(4)], r.IntN(4))
		switch {
		case r.IntN(5) == 0:
			value = ""
		case corrupt && r.IntN(20) == 0:
			value = "bad"
		}
		c.feed(t, g, key, value, g.state.Load().revision+1)
	}
}

// TestSelectAgainstScan compares what is looked up in snapshots, also in those kept from the past, with what a scan of
// all finds.
func TestSelectAgainstScan(t *testing.T) {
	for _, corrupt := range []bool{false, true} {
		r := rand.New(rand.NewPCG(3, 4))
		config := toyConfig(newFake())
		c, g := fedCache(t, config)
		var kept []*Snapshot
		for range 60 {
			randomWrites(t, c, g, r, 20, corrupt)
			kept = append(kept, &g.state.Load().Snapshot)
			if past := g.at(g.state.Load().revision - int64(r.IntN(30))); past != nil {
				kept = append(kept, past)
			}
		}
		for _, s := range kept {
			for _, w := range wants() {
				prefix := []string{toys, toys + "ns1/", toys + "ns1/x3"}[r.IntN(3)]
				from := []string{"", toys + "ns1/x2", toys + "ns2/"}[r.IntN(3)]
				compareSelect(t, s, prefix, from, w)
			}
		}
	}
}

func compareSelect(t *testing.T, s *Snapshot, prefix, from string, w wanted) {
	t.Helper()
	var want, got []*Entry
	for e := range s.Entries(prefix, from) {
		if e.Err() != nil || w.match(e) {
			want = append(want, e)
		}
	}
	for e := range s.Select(prefix, from, w.lookup) {
		if e.Err() != nil || w.match(e) {
			got = append(got, e)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%s below %q from %q at %d: %d entries are found, not %d", w.name, prefix, from, s.Revision(),
			len(got), len(want))
	}
}

// TestIndexYieldsNothingElse: if there is an index, what is yielded has the value.
func TestIndexYieldsNothingElse(t *testing.T) {
	c, g := fedCache(t, toyConfig(newFake()))
	randomWrites(t, c, g, rand.New(rand.NewPCG(1, 1)), 300, false)
	s, err := c.Current()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	l := &Lookup{}
	l.Field(Value{colorField, "red"})
	for e := range s.Select(toys, "", l) {
		if n++; e.Field(colorField) != "red" {
			t.Errorf("%s is %q", e.Key(), e.Field(colorField))
		}
	}
	if n == 0 {
		t.Error("nothing is red")
	}
}

// TestFollowTellsWhatWatchTells compares a cursor that follows a value with one that looks at everything.
func TestFollowTellsWhatWatchTells(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	r := rand.New(rand.NewPCG(5, 6))
	c, g := fedCache(t, toyConfig(newFake()))
	type pair struct {
		wanted
		follow, watch *Cursor
		returned      [2][]string
	}
	var pairs []*pair
	for round := range 40 {
		randomWrites(t, c, g, r, 10, false)
		if round%4 == 0 {
			after := g.state.Load().revision - int64(r.IntN(20))
			for _, w := range wants() {
				prefix := []string{toys, toys + "ns1/"}[r.IntN(2)]
				p := &pair{wanted: w}
				var err error
				if p.follow, err = c.Watch(prefix, w.lookup, max(after, 1), w.match); err != nil {
					t.Fatal(err)
				}
				if p.watch, err = c.Watch(prefix, nil, max(after, 1), w.match); err != nil {
					t.Fatal(err)
				}
				pairs = append(pairs, p)
			}
		}
		for _, p := range pairs {
			for i, w := range []*Cursor{p.follow, p.watch} {
				w.events = w.events[:0]
				if _, err := w.collect(1 << 20); err != nil {
					t.Fatal(err)
				}
				for _, e := range w.events {
					p.returned[i] = append(p.returned[i], fmt.Sprint(e.Type, e.Revision, text(t, e.Entry)))
				}
			}
			if !slices.Equal(p.returned[0], p.returned[1]) {
				t.Fatalf("%s: one returns\n%s\nthe other\n%s", p.name, strings.Join(p.returned[0], "\n"),
					strings.Join(p.returned[1], "\n"))
			}
			p.follow.Next(ended)
			if p.follow.Revision() != g.state.Load().revision {
				t.Fatalf("%s: the cursor has come to %d", p.name, p.follow.Revision())
			}
		}
	}
	for _, p := range pairs {
		p.follow.Close()
		p.watch.Close()
	}
	if n := c.Stats().Topics; n != 0 || slices.ContainsFunc(g.valued, func(n int) bool { return n != 0 }) {
		t.Errorf("%d topics are left, %v", n, g.valued)
	}
}

// TestFollowSeesCorruptValues: a value that can't be read may be one that is followed.
func TestFollowSeesCorruptValues(t *testing.T) {
	c, g := fedCache(t, toyConfig(newFake()))
	c.feed(t, g, "a/x", "color=red|", 2)
	l := &Lookup{}
	l.Field(Value{colorField, "red"})
	w, err := c.Watch(toys, l, 2, func(e *Entry) bool { return e.Field(colorField) == "red" })
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	c.feed(t, g, "a/y", "bad", 3)
	if _, err := w.Next(t.Context()); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a corrupt write is reported as %v", err)
	}
	s, err := c.Current()
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for e := range s.Select(toys, "", l) {
		found = found || e.Err() != nil
	}
	if !found {
		t.Error("a lookup leaves a corrupt entry out")
	}
}

// TestOthersAreNotWoken: a change that has nothing to do with a followed value leaves the topic's log as it is, and one
// that does is one wake-up.
func TestOthersAreNotWoken(t *testing.T) {
	c, g := fedCache(t, toyConfig(newFake()))
	c.feed(t, g, "a/x", "color=red|", 2)
	wakes := map[string]int{}
	logs := map[string]*log{}
	for _, color := range []string{"red", "green", "blue"} {
		l := &Lookup{}
		l.Field(Value{colorField, color})
		w, err := c.Watch(toys, l, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		logs[color] = w.topic.log
	}
	feed := func(key, value string, revision int64) {
		before := map[string]<-chan struct{}{}
		for color, log := range logs {
			before[color] = log.view.Load().changed
		}
		c.feed(t, g, key, value, revision)
		for color, changed := range before {
			select {
			case <-changed:
				wakes[color]++
			default:
			}
		}
	}
	feed("a/x", "color=red|again", 3)
	feed("a/x", "color=green|", 4)
	feed("a/y", "color=green|", 5)
	feed("a/y", "", 6)
	feed("a/z", "color=white|", 7)
	if want := map[string]int{"red": 2, "green": 3}; !maps.Equal(wakes, want) {
		t.Errorf("the wake-ups are %v, not %v", wakes, want)
	}
}

// TestUnchangedWritesShareTheirStrings: all states of an object share the memory of its key, fields and labels.
func TestUnchangedWritesShareTheirStrings(t *testing.T) {
	c, g := fedCache(t, toyConfig(newFake()))
	packed := func() string { return g.state.Load().Get(toys + "a/x").packed }
	c.feed(t, g, "a/x", "color=red|one", 2)
	first := packed()
	c.feed(t, g, "a/x", "color=red|two", 3)
	if now := packed(); unsafe.StringData(now) != unsafe.StringData(first) {
		t.Errorf("%q is kept twice", now)
	}
	c.feed(t, g, "a/x", "color=green|two", 4)
	if now := packed(); now == first {
		t.Errorf("%q is that of a state before", now)
	}
}

// BenchmarkSelect finds 100 of 10,000 entries by a label, and by a field.
func BenchmarkSelect(b *testing.B) {
	f := newFake()
	for i := range 10_000 {
		f.put(fmt.Sprintf("color=c%d,size=%d|%s", i%100, i%100, strings.Repeat("x", 1000)),
			fmt.Sprintf("%sns/toy-%06d", toys, i))
	}
	config := toyConfig(f)
	config.Verify = false
	c := New(config)
	g, err := c.fill(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	c.generation.Store(g)
	s := &g.state.Load().Snapshot
	label, field := &Lookup{}, &Lookup{}
	label.Label("size", "7")
	field.Field(Value{colorField, "c7"})
	for name, l := range map[string]*Lookup{"label": label, "field": field, "scan": nil} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				for e := range s.Select(toys+"ns/", "", l) {
					if e.Labels().Get("size") == "7" {
						n++
					}
				}
				if n != 100 {
					b.Fatal(n)
				}
			}
		})
	}
}

// BenchmarkPublishByValue writes one object while so many watchers wait, each for a value of a field that it doesn't
// have.
func BenchmarkPublishByValue(b *testing.B) {
	for _, watchers := range []int{1, 10_000} {
		b.Run(fmt.Sprintf("unconcerned=%d", watchers), func(b *testing.B) {
			c, g := filled(b, 10_000)
			ctx, cancel := context.WithCancel(context.Background())
			ended := waitAll(ctx, b, c, watchers, func(i int) (string, *Lookup) {
				l := &Lookup{}
				l.Field(Value{colorField, fmt.Sprintf("watched%d", i)})
				return toys, l
			})
			revision := int64(2)
			value := []byte("color=red|" + strings.Repeat("x", 1000))
			b.ReportAllocs()
			for b.Loop() {
				revision++
				kv := storage.KeyValue{Key: toys + "ns00007/toy-000700", Value: value, Revision: revision}
				if err := c.apply(g, storage.Batch{Events: []storage.Event{{KeyValue: kv}},
					Revision: revision}); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			cancel()
			ended()
		})
	}
}
