package cache

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/internal/verb"
)

// coolAll compresses what nobody read since the last call.
func coolAll(s *shared, entries ...*Entry) {
	if s.dictionary == nil {
		s.dictionary = []byte("what objects have in common")
	}
	for _, e := range entries {
		e.payload.cool(s)
	}
}

// sample is a record of an object that others resemble.
func sample(i int) Record {
	payload := fmt.Appendf(nil, `"metadata":{"name":"web-%d","uid":"%x"},"spec":{"image":"registry/web:%d"},"rest":%q}`,
		i, rand.New(rand.NewPCG(uint64(i), 1)).Perm(8), i, strings.Repeat("what objects have in common ", 40))
	return Record{Rendition: verb.Rendition{Head: toyHead, Payload: payload, VersionAt: 3, VersionLen: 4}}
}

// TestColdEntries: an entry that nobody read between two calls of the cooler is kept compressed alone. Readers get what
// they got before; the first one to read the stored form keeps it in memory, and others don't.
func TestColdEntries(t *testing.T) {
	s := toyShared(&toyCodec{}, 1<<20)
	s.verify = false // whose checks expand, too
	e := newEntry(s, toys+"a/x", 7, sample(1))
	want, size := string(sample(1).Rendition.Payload), e.Size()
	read := func(what string) {
		t.Helper()
		r, err := e.Rendition(toyForm)
		if err != nil || string(r.Payload) != want || r.Head != toyHead || r.VersionAt != 3 || r.VersionLen != 4 {
			t.Fatalf("%s: %+v, %v", what, r, err)
		}
	}
	state := func(what string, cold bool, compressed, expanded int64) {
		t.Helper()
		if e.payload.isCold() != cold || e.Rendered(toyForm) == cold || s.counts.compressed.Load() != compressed ||
			s.counts.expanded.Load() != expanded || e.Size() != size {
			t.Errorf("%s: cold %v, %d were compressed and %d expanded", what, e.payload.isCold(),
				s.counts.compressed.Load(), s.counts.expanded.Load())
		}
	}
	coolAll(s, e)
	state("a new entry", false, 0, 0)
	coolAll(s, e)
	state("nobody read it", true, 1, 0)
	coolAll(s, e)
	state("once more", true, 1, 0)
	if got := e.stored(); string(got.Payload) != want {
		t.Errorf("stored: %s", got.Payload)
	}
	state("another form was made", true, 1, 1)
	read("cold")
	state("it was read", false, 1, 2)
	for range 3 {
		coolAll(s, e)
		state("it is in use", false, 1, 2)
		read("warm")
	}
	coolAll(s, e)
	coolAll(s, e)
	state("it isn't any more", true, 1, 2)
	if packed := e.payload.packLen; int64(packed) > size/3 {
		t.Errorf("%d bytes became %d", size, packed)
	}
	if got := e.restamped(9); got.payload.isCold() || s.counts.expanded.Load() != 3 {
		t.Errorf("%d were expanded", s.counts.expanded.Load())
	}
}

// TestWhatStaysPlain: what compression doesn't make smaller stays as it is, and is tried once. An entry without a
// stored form has nothing to compress.
func TestWhatStaysPlain(t *testing.T) {
	s := toyShared(&toyCodec{}, 1<<20)
	noise := make([]byte, 3000)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	random := newEntry(s, toys+"a/x", 7, Record{Rendition: verb.Rendition{Head: toyHead, Payload: noise}})
	empty := newEntry(s, toys+"a/y", 7, Record{Rendition: verb.Rendition{Head: toyHead}})
	bad := newCorrupt(s, toys+"a/z", 4, errors.New("bad"))
	coolAll(s, random, empty, bad)
	if !random.payload.cool(s) || random.payload.cool(s) || random.payload.isCold() {
		t.Error("noise was not tried once")
	}
	for _, e := range []*Entry{random, empty, bad} {
		coolAll(s, e)
		if e.payload.isCold() {
			t.Errorf("%s is cold", e.Key())
		}
	}
	if got, err := random.Rendition(toyForm); err != nil || !bytes.Equal(got.Payload, noise) {
		t.Errorf("noise: %v", err)
	}
	if got, err := empty.Rendition(toyForm); err != nil || len(got.Payload) > 0 {
		t.Errorf("empty: %v, %v", got, err)
	}
}

// TestColdBesideReaders: readers get the same bytes while the cooler compresses what they read.
func TestColdBesideReaders(t *testing.T) {
	s := toyShared(&toyCodec{}, 4<<10)
	var entries []*Entry
	for i := range 50 {
		entries = append(entries, newEntry(s, fmt.Sprint(toys, "a/", i), 7, sample(i)))
	}
	stop, cooled := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(cooled)
		for {
			coolAll(s, entries...)
			select {
			case <-stop:
				return
			default:
				runtime.Gosched()
			}
		}
	}()
	var readers sync.WaitGroup
	for k := range 4 {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(k), 2))
			for range 2000 {
				i := r.IntN(len(entries))
				form := []verb.Form{toyForm, otherOne}[r.IntN(2)]
				got, err := entries[i].Rendition(form)
				if err != nil || form == toyForm && !bytes.Equal(got.Payload, sample(i).Rendition.Payload) {
					t.Errorf("%d in %v: %s, %v", i, form, got.Payload, err)
				}
				runtime.Gosched()
			}
		})
	}
	readers.Wait()
	close(stop)
	<-cooled
	for s.counts.compressed.Load() == 0 {
		coolAll(s, entries...)
	}
}

// TestCompressAndExpand: what was compressed with any dictionary is expanded with it, in any order.
func TestCompressAndExpand(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	text := func(n int) []byte {
		out, kinds := make([]byte, r.IntN(n+1)), 2+r.IntN(11)
		for i := range out {
			out[i] = "abcdefgh{}:,\x00"[r.IntN(kinds)]
		}
		return out
	}
	for range 300 {
		dictionary, data := text(dictionarySize), text(70_000)
		packed := compress(data, dictionary)
		if got, err := expand(packed, len(data), dictionary); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes with a dictionary of %d: %v", len(data), len(dictionary), err)
		}
		if _, err := expand(packed[:len(packed)/2], len(data), dictionary); err == nil && len(data) > 0 {
			t.Fatal("half of them were expanded")
		}
	}
}

// FuzzCompress holds that what was compressed with a dictionary is expanded with it, and that nothing else makes expand
// panic.
func FuzzCompress(f *testing.F) {
	f.Add([]byte(nil), []byte(nil))
	f.Add(sample(1).Rendition.Payload, sample(2).Rendition.Payload)
	f.Fuzz(func(t *testing.T, data, dictionary []byte) {
		packed := compress(data, dictionary)
		if got, err := expand(packed, len(data), dictionary); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%q became %q: %v", data, got, err)
		}
		_, _ = expand(data, 100, dictionary)
		_, _ = expand(packed, len(data)+1, data)
	})
}

// TestCooler: a cache compresses what nobody read for Config.Cold, up to twice that, and serves what it served. A list
// knows what it must expand.
func TestCooler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := newFake()
		for i := range 200 {
			backend.put("color=red|"+strings.Repeat("same ", 100)+fmt.Sprint(i), fmt.Sprintf("%sa/%03d", toys, i))
		}
		config := toyConfig(backend)
		config.Cold = time.Minute
		c := start(t, config)
		s, err := c.Consistent(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		warm := s.Get(toys + "a/007")
		for range 5 {
			time.Sleep(31 * time.Second)
			if _, err := warm.Rendition(toyForm); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		for e := range s.Entries(toys, "") {
			if e.payload.isCold() == (e == warm) {
				t.Errorf("%s is cold: %v", e.Key(), e.payload.isCold())
			}
		}
		if got := c.Stats().Compressed; got != 199 {
			t.Errorf("%d were compressed", got)
		}
		var size int64
		for e := range s.Entries(toys, "") {
			size += e.Size()
		}
		if got := s.Missing(toys, "", 200, toyForm); got != size-warm.Size() {
			t.Errorf("a list must expand %d bytes, want %d", got, size-warm.Size())
		}
		for e := range s.Entries(toys, "") {
			if got, err := e.Rendition(toyForm); err != nil || !strings.Contains(string(got.Payload), "same same") {
				t.Fatalf("%s: %s, %v", e.Key(), got.Payload, err)
			}
		}
		if got := s.Missing(toys, "", 200, toyForm); got != 0 {
			t.Errorf("a second list must expand %d bytes", got)
		}
	})
}

// BenchmarkCold is what it costs to compress an entry, and what a reader of a cold one pays, beside a warm one.
func BenchmarkCold(b *testing.B) {
	s := &shared{codec: &toyCodec{}, stored: toyForm, counts: &counters{}}
	s.dictionary = sample(0).Rendition.Payload
	e := newEntry(s, toys+"a/x", 7, sample(1))
	b.Run("compress", func(b *testing.B) {
		data := e.payload.peek(s)
		b.ReportAllocs()
		for b.Loop() {
			compress(data, s.dictionary)
		}
	})
	b.Run("warm", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = e.Rendition(toyForm)
		}
	})
	coolAll(s, e)
	coolAll(s, e)
	b.Run("cold", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = e.stored()
		}
	})
}
