package cache

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/internal/deflate"
	"apigen.dev/runtime/internal/verb"
)

// byParts reads the parts of a page as a client does that accepts gzip.
func byParts(t testing.TB, s *Snapshot, prefix, from string, n int, form verb.Form, now time.Time) string {
	t.Helper()
	var out bytes.Buffer
	stream := deflate.NewStream(&out)
	for part, err := range s.Parts(prefix, from, n, form, now) {
		if err != nil {
			return ""
		}
		_, _ = io.WriteString(stream, ";")
		if part.Compressed != nil {
			_ = stream.WriteBlock(part.Compressed)
		} else {
			_, _ = stream.Write(part.Plain)
		}
	}
	_ = stream.Close()
	r, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// withAges is what Parts should be, made of the entries' own renditions; "" if one fails.
func withAges(s *Snapshot, prefix, from string, n int, form verb.Form, now time.Time) string {
	var b strings.Builder
	codec := &toyCodec{}
	for e := range s.Entries(prefix, from) {
		if n--; n < 0 {
			break
		}
		if e.Err() != nil {
			return ""
		}
		r := e.stored()
		if form != toyForm {
			var err error
			if r, err = codec.Render(e.Key(), r, form); err != nil {
				return ""
			}
		}
		b.WriteString(";{" + r.Head)
		at := uint32(0)
		for _, hole := range r.Holes {
			b.Write(r.Payload[at:hole.At])
			age, _ := codec.AppendAge(nil, hole.Since, now)
			b.Write(age)
			at = hole.At
		}
		b.Write(r.Payload[at:])
	}
	return b.String()
}

// TestPartsAreTheEntries: after random writes, pages of the present and the past, in several forms, while time passes
// and sometimes goes back.
func TestPartsAreTheEntries(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 5))
			config := toyConfig(newFake())
			config.RenditionBytes = []int64{1 << 20, 8 << 10}[seed%2]
			config.Window.Min = 1000
			c, g := fedCache(t, config)
			now := time.Unix(1000, 0)
			compressed := 0
			for revision := int64(2); revision < 2000; revision++ {
				value := fmt.Sprint("color=red|", strings.Repeat("x", r.IntN(40)))
				switch chance := r.IntN(1000); {
				case chance < 300+400*int(revision/500%2):
					value = ""
				case chance == 999 && seed > 1:
					value = []string{"bad", "|unrenderable"}[r.IntN(2)]
				}
				if r.IntN(3) == 0 {
					c.feed(t, g, fmt.Sprintf("%c/%03d", 'a'+r.IntN(3), r.IntN(200)), value, revision)
				}
				now = now.Add(time.Duration(r.IntN(4000)-1000) * time.Millisecond)
				s := &g.state.Load().Snapshot
				if r.IntN(8) == 0 {
					if past := g.at(max(revision-int64(r.IntN(300)), 2)); past != nil {
						s = past
					}
				}
				prefix := toys + []string{"", "a/", "b/", "c/1", "d/"}[r.IntN(5)]
				from := []string{"", prefix, toys + "b/100", toys + "b/100\x00"}[r.IntN(4)]
				n := s.Count(prefix, from)
				if r.IntN(2) == 0 && n > 0 {
					n = 1 + r.IntN(n)
				}
				if n == 0 {
					continue
				}
				form := []verb.Form{otherOne, agedOne, toyForm}[r.IntN(3)]
				want := withAges(s, prefix, from, n, form, now)
				if got := byParts(t, s, prefix, from, n, form, now); got != want {
					t.Fatalf("revision %d: %d below %q from %q as %s are\n%s\nnot\n%s", revision, n, prefix, from,
						form.Version, got, want)
				}
				for part := range s.Parts(prefix, from, n, form, now) {
					if part.Compressed != nil {
						compressed++
					}
				}
				checkPool(t, g)
			}
			if compressed < 100 {
				t.Errorf("only %d parts were compressed", compressed)
			}
		})
	}
}

// TestPartsAreMadeOnce: readers share what is compressed, until a write replaces the leaf or its ages are over.
func TestPartsAreMadeOnce(t *testing.T) {
	codec := &toyCodec{}
	config := toyConfig(newFake())
	config.Codec = codec
	c, g := fedCache(t, config)
	revision := int64(1)
	write := func(i int) {
		revision++
		c.feed(t, g, fmt.Sprintf("a/%03d", i), "|text", revision)
	}
	for i := range 200 {
		write(i)
	}
	now := time.Unix(1000, 0)
	read := func(form verb.Form, now time.Time) (all map[*deflate.Block]bool) {
		all = map[*deflate.Block]bool{}
		for part, err := range g.state.Load().Parts(toys, "", 200, form, now) {
			if err != nil || part.Compressed == nil {
				t.Fatal(part, err)
			}
			all[part.Compressed] = true
		}
		return all
	}
	fresh := func(before, after map[*deflate.Block]bool) (n int) {
		for b := range after {
			if !before[b] {
				n++
			}
		}
		return n
	}
	for _, form := range []verb.Form{toyForm, otherOne, agedOne} {
		first := read(form, now)
		var others [4]map[*deflate.Block]bool
		var wait sync.WaitGroup
		for i := range others {
			wait.Go(func() { others[i] = read(form, now) })
		}
		wait.Wait()
		for _, other := range others {
			if n := fresh(first, other); n > 0 {
				t.Errorf("%v: %d parts of %d were compressed again", form, n, len(first))
			}
		}
		write(100)
		second := read(form, now)
		if n := fresh(first, second); n != 1 {
			t.Errorf("%v: after a write to one leaf, %d parts of %d were compressed again", form, n, len(first))
		}
		later := now.Add(time.Minute)
		if n := fresh(second, read(form, later)); form == agedOne && n != len(second) || form != agedOne && n > 0 {
			t.Errorf("%v: a minute later, %d parts of %d were compressed again", form, n, len(second))
		}
		checkPool(t, g)
	}
}

// TestPagesAreMadeOnce: pages that begin and end within leaves are compressed once, whole objects and rows each, until
// pages begin elsewhere. What a page of another size has compressed doesn't stay in the pool.
func TestPagesAreMadeOnce(t *testing.T) {
	c, g := fedCache(t, toyConfig(newFake()))
	const objects = 1000
	for i := range objects {
		c.feed(t, g, fmt.Sprintf("a/%04d", i), "|text", int64(i+2))
	}
	now := time.Unix(1000, 0)
	read := func(form verb.Form, size int) (all []*deflate.Block) {
		t.Helper()
		s := &g.state.Load().Snapshot
		for i := 0; i < objects; i += size {
			from, n := fmt.Sprintf("%sa/%04d", toys, i), min(size, objects-i)
			want := withAges(s, toys, from, n, form, now)
			if got := byParts(t, s, toys, from, n, form, now); got != want {
				t.Fatalf("the page from %s is\n%s\nnot\n%s", from, got, want)
			}
			for part := range s.Parts(toys, from, n, form, now) {
				if part.Compressed == nil {
					t.Fatalf("a part of the page from %s is not compressed", from)
				}
				all = append(all, part.Compressed)
			}
		}
		checkPool(t, g)
		return all
	}
	whole, rows := read(toyForm, 150), read(agedOne, 150)
	kept := g.shared.pool.size()
	if !slices.Equal(whole, read(toyForm, 150)) || !slices.Equal(rows, read(agedOne, 150)) {
		t.Error("pages were compressed again")
	}
	if size := g.shared.pool.size(); size != kept {
		t.Errorf("%d bytes are kept, %d before the same pages", size, kept)
	}
	for size := 151; size < 400; size += 7 {
		read(toyForm, size)
	}
	if size := g.shared.pool.size(); size > kept*3/2 {
		t.Errorf("%d bytes are kept after pages of many sizes, %d after those of one", size, kept)
	}
}

// TestCompressedIsBounded: compressed leaves count against the budget of renditions.
func TestCompressedIsBounded(t *testing.T) {
	config := toyConfig(newFake())
	config.RenditionBytes = 4 << 10
	c, g := fedCache(t, config)
	for i := range 1000 {
		c.feed(t, g, fmt.Sprintf("a/%03d", i), "|text", int64(i+2))
	}
	for range g.state.Load().Parts(toys, "", 1000, toyForm, time.Unix(0, 0)) {
		if size := g.shared.pool.size(); size > config.RenditionBytes {
			t.Fatalf("%d bytes are kept", size)
		}
	}
	if g.shared.pool.size() == 0 {
		t.Error("nothing is kept")
	}
	checkPool(t, g)
}
