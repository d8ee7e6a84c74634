package cache

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"apigen.dev/runtime/storage"
)

// filled is a cache of n objects in namespaces of 100, without Verify.
func filled(b *testing.B, n int) (*Cache, *generation) {
	f := newFake()
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("%sns%05d/toy-%06d", toys, i/100, i)
	}
	f.put("color=red,size=2|"+strings.Repeat("x", 1000), keys...)
	config := toyConfig(f)
	config.Verify = false
	config.PageSize = int64(n)
	c := New(config)
	g, err := c.fill(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	c.generation.Store(g)
	return c, g
}

// BenchmarkPublish writes one object while so many watchers wait, each for a namespace of its own that is not written
// to.
func BenchmarkPublish(b *testing.B) {
	for _, watchers := range []int{1, 10_000} {
		b.Run(fmt.Sprintf("unconcerned=%d", watchers), func(b *testing.B) {
			c, g := filled(b, 10_000)
			ctx, cancel := context.WithCancel(context.Background())
			ended := waitAll(ctx, b, c, watchers, func(i int) (string, *Lookup) {
				return fmt.Sprintf("%swatched%d/", toys, i), nil
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

// waitAll begins as many watches and waits in each; what it returns waits for their end, which ctx's brings.
func waitAll(ctx context.Context, b *testing.B, c *Cache, watchers int,
	of func(i int) (prefix string, l *Lookup)) func() {
	var waiting sync.WaitGroup
	for i := range watchers {
		prefix, l := of(i)
		w, err := c.Watch(prefix, l, 2, nil)
		if err != nil {
			b.Fatal(err)
		}
		waiting.Go(func() {
			defer w.Close()
			if _, err := w.Next(ctx); ctx.Err() == nil {
				b.Errorf("a watcher got something, %v", err)
			}
		})
	}
	return waiting.Wait
}

// BenchmarkWake writes one object that so many watchers follow, and waits until all of them have returned it.
func BenchmarkWake(b *testing.B) {
	const watchers = 1000
	c, g := filled(b, 10_000)
	var returned sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	var waiting sync.WaitGroup
	for range watchers {
		w, err := c.Watch(toys+"ns00007/", nil, 2, nil)
		if err != nil {
			b.Fatal(err)
		}
		waiting.Go(func() {
			defer w.Close()
			for {
				events, err := w.Next(ctx)
				if err != nil {
					return
				}
				returned.Add(-len(events))
			}
		})
	}
	revision := int64(2)
	value := []byte("color=red|" + strings.Repeat("x", 1000))
	b.ReportAllocs()
	for b.Loop() {
		revision++
		returned.Add(watchers)
		kv := storage.KeyValue{Key: toys + "ns00007/toy-000700", Value: value, Revision: revision}
		if err := c.apply(g, storage.Batch{Events: []storage.Event{{KeyValue: kv}}, Revision: revision}); err != nil {
			b.Fatal(err)
		}
		returned.Wait()
	}
	b.StopTimer()
	cancel()
	waiting.Wait()
}

// BenchmarkList reads 10,000 objects as a LIST with a label selector does.
func BenchmarkList(b *testing.B) {
	c, _ := filled(b, 10_000)
	s, err := c.Current()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for e := range s.Entries(toys, "") {
			if e.Labels().Get("size") != "2" {
				continue
			}
			r, err := e.Rendition(toyForm)
			if err != nil {
				b.Fatal(err)
			}
			n += len(r.Payload)
		}
		if n < 10_000_000 {
			b.Fatal(n)
		}
	}
}

// BenchmarkWrite writes into a cache of 100,000 objects: decode, tree, log, publication.
func BenchmarkWrite(b *testing.B) {
	c, g := filled(b, 100_000)
	revision := int64(2)
	value := []byte("color=red|" + strings.Repeat("x", 1000))
	b.ReportAllocs()
	for b.Loop() {
		revision++
		i := int(revision*7919) % 100_000
		kv := storage.KeyValue{Key: fmt.Sprintf("%sns%05d/toy-%06d", toys, i/100, i), Value: value, Revision: revision}
		if err := c.apply(g, storage.Batch{Events: []storage.Event{{KeyValue: kv}}, Revision: revision}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAt reads a state in the middle of a full window.
func BenchmarkAt(b *testing.B) {
	c, g := filled(b, 10_000)
	const events = 10_000
	for i := range int64(events) {
		kv := storage.KeyValue{Key: fmt.Sprintf("%sns%05d/toy-%06d", toys, i%100, i), Value: []byte("x"),
			Revision: 3 + i}
		if err := c.apply(g, storage.Batch{Events: []storage.Event{{KeyValue: kv}}, Revision: 3 + i}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.At(context.Background(), events/2); err != nil {
			b.Fatal(err)
		}
	}
}
