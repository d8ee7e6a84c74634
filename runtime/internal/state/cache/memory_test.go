package cache

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
)

// TestOverMemory runs a cache over a real backend: writers, a watcher that keeps a copy of the state by events alone,
// and consistent reads that must equal it.
func TestOverMemory(t *testing.T) {
	backend := memory.New()
	t.Cleanup(func() {
		if err := backend.Close(); err != nil {
			t.Error(err)
		}
	})
	config := toyConfig(nil)
	config.Backend, config.Wait = backend, time.Minute
	c := start(t, config)
	s, err := c.Consistent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w, err := c.Watch(toys, nil, s.Revision(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	known := map[string]int64{}
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 500 {
		key := fmt.Sprintf("%sa/%d", toys, r.IntN(30))
		writeMemory(t, backend, key, fmt.Sprintf("color=red|%d", i), r.IntN(4) == 0)
		if i%10 != 0 {
			continue
		}
		s, err := c.Consistent(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for w.Revision() < s.Revision() {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			events, err := w.Next(ctx)
			cancel()
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			for _, e := range events {
				known[e.Entry.Key()] = e.Revision
				if e.Type == Deleted {
					delete(known, e.Entry.Key())
				}
			}
		}
		for e := range s.Entries(toys, "") {
			if known[e.Key()] != e.Revision() {
				t.Fatalf("at %d, %s is at %d, and events say %d", s.Revision(), e.Key(), e.Revision(), known[e.Key()])
			}
		}
		if s.Count(toys, "") != len(known) {
			t.Fatalf("at %d there are %d entries, and events say %d", s.Revision(), s.Count(toys, ""), len(known))
		}
	}
}

// writeMemory writes or removes a key, whatever it holds; and something that is not the cache's.
func writeMemory(t *testing.T, backend storage.Backend, key, value string, remove bool) {
	t.Helper()
	kv, _, err := backend.Get(t.Context(), key, storage.GetOptions{RevisionOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var have int64
	if kv != nil {
		have = kv.Revision
	}
	if remove && have > 0 {
		_, err = backend.Delete(t.Context(), key, have)
	} else {
		_, err = backend.Put(t.Context(), key, []byte(value), have, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := backend.Put(t.Context(), "/elsewhere/"+key+value, []byte("x"), 0, 0); err != nil {
		t.Fatal(err)
	}
}
