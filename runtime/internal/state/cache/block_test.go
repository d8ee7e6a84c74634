package cache

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
)

// unholed is bytes with their holes filled; those of data[i] are at at+i.
func unholed(data []byte, holes []verb.Hole, at uint32) string {
	var b strings.Builder
	from := uint32(0)
	for _, h := range holes {
		b.Write(data[from : h.At-at])
		fmt.Fprintf(&b, "<%d>", h.Since.Unix())
		from = h.At - at
	}
	b.Write(data[from:])
	return b.String()
}

// oneByOne is what Blocks should be, made of the entries' own renditions; "" if one fails.
func oneByOne(s *Snapshot, prefix, from string, n int, form verb.Form) string {
	var b strings.Builder
	for e := range s.Entries(prefix, from) {
		if n--; n < 0 {
			break
		}
		if e.Err() != nil {
			return ""
		}
		r, err := e.shared.codec.Render(e.Key(), e.stored(), form)
		if err != nil {
			return ""
		}
		b.WriteString(";{" + r.Head + unholed(r.Payload, r.Holes, 0))
	}
	return b.String()
}

func byBlocks(s *Snapshot, prefix, from string, n int, form verb.Form) string {
	blocks, err := s.Blocks(nil, prefix, from, n, form)
	if err != nil {
		return ""
	}
	var b strings.Builder
	for _, block := range blocks {
		b.WriteString(unholed(block.Data, block.Holes, block.At))
	}
	return b.String()
}

// TestBlocksAreTheEntriesJoined: after random writes, pages of the present and the past, in several forms.
func TestBlocksAreTheEntriesJoined(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 3))
			config := toyConfig(newFake())
			config.RenditionBytes = []int64{1 << 20, 8 << 10}[seed%2]
			config.Window.Min = 1000
			c, g := fedCache(t, config)
			for revision := int64(2); revision < 3000; revision++ {
				value := fmt.Sprint("color=red|", strings.Repeat("x", r.IntN(40)))
				switch chance := r.IntN(1000); {
				case chance < 300+400*int(revision/750%2):
					value = ""
				case chance == 999 && seed > 1:
					value = []string{"bad", "|unrenderable"}[r.IntN(2)]
				}
				c.feed(t, g, fmt.Sprintf("%c/%03d", 'a'+r.IntN(3), r.IntN(200)), value, revision)
				s := &g.state.Load().Snapshot
				if r.IntN(8) == 0 {
					if past := g.at(revision - int64(r.IntN(300))); past != nil {
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
				want := oneByOne(s, prefix, from, n, form)
				if form == toyForm {
					want = ""
					for e := range s.Entries(prefix, from) {
						if n--; n < 0 {
							break
						}
						if e.Err() != nil {
							want = ""
							break
						}
						want += ";{" + e.stored().Head + string(e.stored().Payload)
					}
					n = strings.Count(want, ";{")
				}
				if want == "" {
					continue
				}
				if got := byBlocks(s, prefix, from, n, form); got != want {
					t.Fatalf("revision %d: %d below %q from %q as %s are\n%s\nnot\n%s", revision, n, prefix, from,
						form.Version, got, want)
				}
				checkPool(t, g)
			}
		})
	}
}

// checkPool checks that the pool counts what it holds, that this is within its budget, and that a reader can find each
// block that it holds.
func checkPool(t *testing.T, g *generation) {
	t.Helper()
	reachable := map[rendered]bool{}
	g.state.Load().root.Leaves(position{}, position{}, func(leaf *node, _, _ int) bool {
		for _, s := range leaf.Attachment().lineage() {
			reachable[s] = true
		}
		for c := range leaf.Attachment().parts {
			reachable[c] = true
		}
		return true
	})
	p := &g.shared.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	var bytes int64
	for i, one := range p.ring {
		bytes += one.cost
		if *one.what.at() != i+1 {
			t.Fatalf("place %d of the ring holds what believes to be at %d", i+1, *one.what.at())
		}
		if s, ok := one.what.(*leafBlock); ok && (!reachable[s] || s.joined.Load() == nil) {
			t.Fatalf("a block is kept that nobody can find, or holds nothing: %v", s.joined.Load() == nil)
		}
		if c, ok := one.what.(*compressedPart); ok && (!reachable[c] || !c.kept()) {
			t.Fatalf("a compressed part is kept that nobody can find, or holds nothing: %v", !c.kept())
		}
	}
	if bytes != p.bytes || bytes > p.budget {
		t.Fatalf("%d bytes are kept, %d are counted, the budget is %d", bytes, p.bytes, p.budget)
	}
}

// TestBlocksRenderWhatIsNewAlone: a write costs one rendition at the next list, also of a page of the past.
func TestBlocksRenderWhatIsNewAlone(t *testing.T) {
	config := toyConfig(newFake())
	c, g := fedCache(t, config)
	codec := config.Codec.(*toyCodec)
	const objects = 500
	revision := int64(1)
	write := func(i int) {
		revision++
		c.feed(t, g, fmt.Sprintf("a/%03d", i), "x", revision)
	}
	list := func(s *Snapshot) int64 {
		t.Helper()
		before := codec.rendered.Load()
		if blocks, err := s.Blocks(nil, toys, "", objects, otherOne); err != nil || len(blocks) == 0 {
			t.Fatalf("%d blocks, %v", len(blocks), err)
		}
		return codec.rendered.Load() - before
	}
	for i := range objects {
		write(i)
	}
	if n := list(&g.state.Load().Snapshot); n != objects {
		t.Errorf("the first list renders %d", n)
	}
	then := revision
	for i := range 10 {
		write(i * 40)
	}
	if n := list(&g.state.Load().Snapshot); n != 10 {
		t.Errorf("after 10 writes a list renders %d", n)
	}
	if n := list(&g.state.Load().Snapshot); n != 0 {
		t.Errorf("the same list again renders %d", n)
	}
	if n := list(g.at(then)); n != 10 {
		t.Errorf("the state before the 10 writes renders %d", n)
	}
	// A form that another reader asked for is not rendered again.
	write(7)
	if _, err := g.state.Load().Get(toys + "a/007").Rendition(otherOne); err != nil {
		t.Fatal(err)
	}
	if n := list(&g.state.Load().Snapshot); n != 0 {
		t.Errorf("what a watcher had rendered is rendered again, with %d", n)
	}
}

// TestBlocksBesideWrites: readers of many snapshots while a writer goes on.
func TestBlocksBesideWrites(t *testing.T) {
	config := toyConfig(newFake())
	config.RenditionBytes = 64 << 10
	c, g := fedCache(t, config)
	for i := range 300 {
		c.feed(t, g, fmt.Sprintf("a/%03d", i), "x", int64(i)+2)
	}
	done := make(chan struct{})
	var readers sync.WaitGroup
	for i := range uint64(4) {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(i, 4))
			for {
				select {
				case <-done:
					return
				default:
				}
				s := &g.state.Load().Snapshot
				form := []verb.Form{otherOne, agedOne}[r.IntN(2)]
				n := s.Count(toys, "")
				if got, want := byBlocks(s, toys, "", n, form), oneByOne(s, toys, "", n, form); got != want {
					t.Errorf("revision %d: %s", s.revision, got)
					return
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(1, 5))
	for revision := int64(302); revision < 3000; revision++ {
		value := []string{"", "x", "y"}[r.IntN(3)]
		c.feed(t, g, fmt.Sprintf("a/%03d", r.IntN(300)), value, revision)
	}
	close(done)
	readers.Wait()
	checkPool(t, g)
}

// TestBlocksFail by the entry that can't be read or shown, and leave those beside it alone.
func TestBlocksFail(t *testing.T) {
	c, g := fedCache(t, toyConfig(newFake()))
	for i := range 64 {
		c.feed(t, g, fmt.Sprintf("%c/%02d", 'a'+i%2, i), "x", int64(i)+2)
	}
	c.feed(t, g, "a/bad", "bad", 100)
	s := &g.state.Load().Snapshot
	if _, err := s.Blocks(nil, toys, "", 65, otherOne); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a value that can't be read: %v", err)
	}
	if got, want := byBlocks(s, toys+"b/", "", 32, otherOne), oneByOne(s, toys+"b/", "", 32, otherOne); got != want ||
		got == "" {
		t.Errorf("beside it: %s", got)
	}
	c.feed(t, g, "a/bad", "|unrenderable", 101)
	if _, err := g.state.Load().Blocks(nil, toys, "", 65, otherOne); err == nil {
		t.Error("a value that can't be shown: no error")
	}
}

// BenchmarkBlocks lists 10,000 objects beside one write each.
func BenchmarkBlocks(b *testing.B) {
	f := newFake()
	for i := range 10_000 {
		f.put(strings.Repeat("x", 1500), fmt.Sprintf("%sa/%05d", toys, i))
	}
	config := toyConfig(f)
	config.Verify = false
	c := New(config)
	g, err := c.fill(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	c.generation.Store(g)
	var blocks []verb.Block
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		revision := g.state.Load().revision + 1
		event := storage.Event{KeyValue: storage.KeyValue{Key: fmt.Sprintf("%sa/%05d", toys, i*7%10_000),
			Value: []byte("x"), Revision: revision}}
		if err := c.apply(g, storage.Batch{Events: []storage.Event{event}, Revision: revision}); err != nil {
			b.Fatal(err)
		}
		if blocks, err = g.state.Load().Blocks(blocks[:0], toys, "", 10_000, otherOne); err != nil {
			b.Fatal(err)
		}
	}
}
