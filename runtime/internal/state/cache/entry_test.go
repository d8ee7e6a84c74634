package cache

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"apigen.dev/runtime/internal/verb"
	"k8s.io/apimachinery/pkg/labels"
)

func toyShared(codec Codec, budget int64) *shared {
	s := &shared{codec: codec, stored: toyForm, counts: &counters{}, verify: true}
	s.pool.budget, s.pool.counts = budget, s.counts
	return s
}

// TestEntryPacksRecords compares packed entries with the records that they were made of.
func TestEntryPacksRecords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		return strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(4)) +
			[]string{"", "app", "ü", "/x", strings.Repeat("long", 60)}[r.IntN(5)]
	}
	s := toyShared(&toyCodec{}, 1)
	for range 2000 {
		record := Record{Labels: map[string]string{}, Stale: r.IntN(2) == 0, Rendition: toyRendition("x", 7)}
		for range r.IntN(6) {
			record.Labels[word()] = word()
		}
		name := word()
		record.Fields = []string{name, word()}
		for range r.IntN(3) {
			record.Fields = append(record.Fields, word())
		}
		key := toys + word() + "/" + name
		e := newEntry(s, key, 7, record)
		if e.Key() != key || e.Revision() != 7 || e.Stale() != record.Stale || e.Err() != nil {
			t.Fatalf("%q: %q %d %v %v", key, e.Key(), e.Revision(), e.Stale(), e.Err())
		}
		for i, field := range record.Fields {
			if e.Field(i) != field {
				t.Fatalf("field %d of %q is %q", i, record.Fields, e.Field(i))
			}
		}
		if e.Field(-1) != "" || e.Field(len(record.Fields)) != "" {
			t.Fatal("there are more fields than there should be")
		}
		if got := maps.Collect(LabelSet{e}.All); !maps.Equal(got, record.Labels) {
			t.Fatalf("the labels of %q are %q", record.Labels, got)
		}
		for _, name := range []string{"", "app", "zz", word()} {
			value, found := e.Labels().Lookup(name)
			want, exists := record.Labels[name]
			if value != want || found != exists || e.Labels().Has(name) != exists || e.Labels().Get(name) != want {
				t.Fatalf("label %q of %q is %q, %v", name, record.Labels, value, found)
			}
		}
	}
}

func TestCorruptEntryHasNothing(t *testing.T) {
	cause := errors.New("bad")
	e := newCorrupt(toyShared(&toyCodec{}, 1), toys+"a/x", 4, cause)
	if e.Key() != toys+"a/x" || e.Field(0) != "" || e.Labels().Has("a") || e.Revision() != 4 {
		t.Error("a corrupt entry has more than its key")
	}
	for _, form := range []verb.Form{toyForm, otherOne} {
		_, err := e.Rendition(form)
		if !errors.Is(err, ErrCorrupt) || !errors.Is(err, cause) || !strings.Contains(err.Error(), e.Key()) {
			t.Errorf("%v: %v", form, err)
		}
	}
}

// TestRenditionIsRenderedOnce demands forms concurrently.
func TestRenditionIsRenderedOnce(t *testing.T) {
	codec := &toyCodec{}
	e := toyEntry(toyShared(codec, 1<<20), "a/x", "x")
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			form := verb.Form{Version: fmt.Sprint("v", i%4)}
			r, err := e.Rendition(form)
			if err != nil || (form != toyForm && r.Head != `"form":"`+form.Version+`",`) {
				t.Errorf("%v: %q, %v", form, r.Head, err)
			}
		})
	}
	all.Wait()
	if n := codec.rendered.Load(); n != 3 {
		t.Errorf("three forms were rendered %d times", n)
	}
}

// TestRenderedTellsWhatIsAtHand: the stored form always, another one from its rendering to its eviction.
func TestRenderedTellsWhatIsAtHand(t *testing.T) {
	s := toyShared(&toyCodec{}, formOverhead+100)
	e, bad := toyEntry(s, "a/x", "x"), newCorrupt(s, toys+"a/y", 4, errors.New("bad"))
	if !e.Rendered(toyForm) || e.Rendered(otherOne) || bad.Rendered(toyForm) || bad.Rendered(otherOne) {
		t.Error("before anything was rendered")
	}
	if _, err := e.Rendition(otherOne); err != nil || !e.Rendered(otherOne) {
		t.Errorf("rendered: %v, %v", e.Rendered(otherOne), err)
	}
	for i := range 3 {
		if _, err := toyEntry(s, fmt.Sprint("a/", i), "x").Rendition(otherOne); err != nil {
			t.Fatal(err)
		}
	}
	if e.Rendered(otherOne) {
		t.Error("it was evicted")
	}
}

func toyEntry(s *shared, key, value string) *Entry {
	record, err := s.codec.Decode(toys+key, []byte(value), 1)
	if err != nil {
		panic(err)
	}
	return newEntry(s, toys+key, 1, record)
}

// TestRenditionsStayUnderBudget renders more than there is room for; what is used is spared.
func TestRenditionsStayUnderBudget(t *testing.T) {
	codec := &toyCodec{}
	s := toyShared(codec, 10*(formOverhead+100))
	hot := toyEntry(s, "a/hot", "x")
	for i := range 200 {
		for _, e := range []*Entry{hot, toyEntry(s, fmt.Sprint("a/", i), "x")} {
			if _, err := e.Rendition(otherOne); err != nil {
				t.Fatal(err)
			}
		}
		if s.pool.size() > s.pool.budget {
			t.Fatalf("%d bytes are kept", s.pool.size())
		}
	}
	if n := codec.rendered.Load(); n > 205 {
		t.Errorf("what is used again and again was rendered %d times", n-200)
	}
	if s.counts.evicted.Load() == 0 {
		t.Error("nothing was evicted")
	}
	for i, p := range s.pool.ring {
		if *p.what.at() != i+1 {
			t.Errorf("place %d of the ring holds a form that believes to be at %d", i+1, *p.what.at())
		}
	}
}

// TestFailedRenditionIsTriedAgain, and takes no room.
func TestFailedRenditionIsTriedAgain(t *testing.T) {
	codec := &toyCodec{}
	s := toyShared(codec, 1<<20)
	e := toyEntry(s, "a/x", "|unrenderable")
	for range 2 {
		if _, err := e.Rendition(otherOne); err == nil {
			t.Error("no error")
		}
	}
	if n := codec.rendered.Load(); n != 2 || s.pool.bytes != 0 {
		t.Errorf("rendered %d times, %d bytes are kept", n, s.pool.bytes)
	}
}

// TestRetiredEntryKeepsNothing, however retiring and rendering are interleaved.
func TestRetiredEntryKeepsNothing(t *testing.T) {
	s := toyShared(&toyCodec{}, 1<<20)
	for range 200 {
		e := toyEntry(s, "a/x", "x")
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() {
				if r, err := e.Rendition(verb.Form{Version: fmt.Sprint("v", i+2)}); err != nil || len(r.Payload) == 0 {
					t.Errorf("%q, %v", r.Payload, err)
				}
			})
		}
		all.Go(e.retire)
		all.Wait()
		if r, err := e.Rendition(otherOne); err != nil || len(r.Payload) == 0 {
			t.Errorf("a retired entry renders %q, %v", r.Payload, err)
		}
	}
	if s.pool.bytes != 0 || len(s.pool.ring) != 0 {
		t.Errorf("%d bytes of retired entries are kept", s.pool.bytes)
	}
}

// TestVerifyNoticesWrites to bytes that were handed out.
func TestVerifyNoticesWrites(t *testing.T) {
	e := toyEntry(toyShared(&toyCodec{}, 1), "a/x", "x")
	r, err := e.Rendition(toyForm)
	if err != nil {
		t.Fatal(err)
	}
	r.Payload[0] ^= 1
	defer func() {
		if recover() == nil {
			t.Error("nobody noticed")
		}
	}()
	_, _ = e.Rendition(toyForm)
}

// TestReadingAllocatesNothing per entry: labels, fields and renditions.
func TestReadingAllocatesNothing(t *testing.T) {
	s := toyShared(&toyCodec{}, 64<<20)
	s.verify = false
	entries := make([]*Entry, 1000)
	for i := range entries {
		entries[i] = toyEntry(s, fmt.Sprintf("a/%04d", i), fmt.Sprintf("color=red,size=%d|data", i))
	}
	tr := buildTree(entries, byKey)
	snapshot := &Snapshot{root: tr.Freeze()}
	selector, err := labels.Parse("color=red,size!=5,missing!=x")
	if err != nil {
		t.Fatal(err)
	}
	allocs := testing.AllocsPerRun(10, func() {
		n := 0
		for e := range snapshot.Entries(toys, "") {
			if !selector.Matches(e.Labels()) || e.Field(1) != "a" {
				continue
			}
			for _, form := range [...]verb.Form{toyForm, otherOne} {
				if _, err := e.Rendition(form); err != nil {
					t.Fatal(err)
				}
			}
			n++
		}
		if n != 999 {
			t.Fatalf("%d match", n)
		}
	})
	if allocs > 5 {
		t.Errorf("reading 1000 entries allocates %v times", allocs)
	}
}

// TestEntryIsSmall measures what an entry costs over its payload's own allocation.
func TestEntryIsSmall(t *testing.T) {
	const n = 20_000
	s := toyShared(&toyCodec{}, 1)
	s.verify = false
	payloads := make([][]byte, n)
	for i := range payloads {
		payloads[i] = []byte(strings.Repeat("x", 1600))
	}
	before := heap()
	entries := make([]*Entry, n)
	for i := range entries {
		namespace, name := fmt.Sprintf("namespace-%02d", i/1000), fmt.Sprintf("some-deployment-%05d", i)
		entries[i] = newEntry(s, "/registry/example.com/toys/"+namespace+"/"+name, int64(i), Record{
			Rendition: verb.Rendition{Head: strings.Clone(toyHead), Payload: payloads[i], VersionAt: 10, VersionLen: 5},
			Labels:    map[string]string{"app.kubernetes.io/name": "some", "tier": "backend"},
			Fields:    []string{name, namespace, "Running"},
		})
	}
	tr := buildTree(entries, byKey)
	clear(entries)
	cost := float64(heap()-before) / n
	runtime.KeepAlive(payloads)
	runtime.KeepAlive(tr)
	t.Logf("an entry costs %.0f bytes over its payload", cost)
	if cost > 256+8 { // the slice of entries is not part of it
		t.Errorf("an entry costs %.0f bytes over its payload", cost)
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
