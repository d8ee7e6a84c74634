package registry_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// replaced is a backend at the end of a connection that can be cut. Streams go on by themselves in whatever there is
// when
// it comes back, unless they were asked to end with it.
type replaced struct {
	storage.Backend
	mu  sync.Mutex
	cut chan struct{}
}

func (r *replaced) Watch(ctx context.Context, prefix string, after int64) (storage.Stream, error) {
	stream, err := r.Backend.Watch(ctx, prefix, after)
	r.mu.Lock()
	defer r.mu.Unlock()
	return &connected{Stream: stream, cut: r.cut}, err
}

type connected struct {
	storage.Stream
	cut     chan struct{}
	fragile bool
}

func (c *connected) EndWithConnection() { c.fragile = true }

func (c *connected) Next(ctx context.Context) (storage.Batch, error) {
	if !c.fragile {
		return c.Stream.Next(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-c.cut:
			cancel()
		case <-ctx.Done():
		}
	}()
	batch, err := c.Stream.Next(ctx)
	select {
	case <-c.cut:
		return storage.Batch{}, storage.ErrUnavailable
	default:
		return batch, err
	}
}

// A watch that storage itself serves can't tell whether what comes back behind a lost connection is what it was: it
// expires.
// That is so without a cache, and for a revision that lies before the cache's window.
func TestWatchOfStorageExpiresWithItsConnection(t *testing.T) {
	for name, cached := range map[string]bool{"bare": false, "before the window": true} {
		t.Run(name, func(t *testing.T) {
			backend := &replaced{Backend: memory.New(), cut: make(chan struct{})}
			if cached {
				// What the cache is filled with lies behind the revision that is watched.
				first := &bench{TB: t, backend: backend}
				value := []byte(`{"kind":"Widget","apiVersion":"shop.example.com/v1","metadata":{"name":"a",` +
					`"namespace":"ns"},"spec":{}}`)
				for _, key := range []string{"/elsewhere", "/registry/shop.example.com/widgets/ns/a"} {
					if _, err := backend.Put(first.ctx(), key, value, 0, 0); err != nil {
						t.Fatal(err)
					}
				}
			}
			b := openOver(t, backend, registry.New(shop.Definition()), registry.Config{DisableCache: !cached})
			if !cached {
				b.create(`{"metadata":{"name":"z"}}`)
			}
			w, err := b.Watch(b.ctx(), "ns", api.WatchOptions{ResourceVersion: "1"}, v1)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			if _, err := w.Next(b.ctx()); err != nil {
				t.Fatalf("the first event: %v", err)
			}
			backend.mu.Lock()
			close(backend.cut)
			backend.cut = make(chan struct{})
			backend.mu.Unlock()
			_, err = w.Next(b.ctx())
			wantStatus(t, err, 410, metav1.StatusReasonExpired, "too old resource version")
		})
	}
}

// deserted is a backend that, once lost, no longer serves watches of all of a resource: those of the cache.
type deserted struct {
	storage.Backend
	lost chan struct{}
}

func (d *deserted) Watch(ctx context.Context, prefix string, after int64) (storage.Stream, error) {
	if prefix != "/registry/shop.example.com/widgets/" {
		return d.Backend.Watch(ctx, prefix, after)
	}
	select {
	case <-d.lost:
		return nil, storage.ErrUnavailable
	default:
	}
	stream, err := d.Backend.Watch(ctx, prefix, after)
	return &connected{Stream: stream, cut: d.lost}, err
}

// While the cache doesn't follow storage, nobody can tell whether what storage says of a revision that a client knows
// is what
// the client knows: it is asked to come back.
func TestWatchOfStorageWithoutProof(t *testing.T) {
	backend := &deserted{Backend: memory.New(), lost: make(chan struct{})}
	value := []byte(`{"kind":"Widget","apiVersion":"shop.example.com/v1","metadata":{"name":"a","namespace":"ns"},` +
		`"spec":{}}`)
	for _, key := range []string{"/elsewhere", "/registry/shop.example.com/widgets/ns/a"} {
		if _, err := backend.Put(t.Context(), key, value, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	b := openOver(t, backend, registry.New(shop.Definition()), registry.Config{})
	close(backend.lost)
	waitFor(t, func() error {
		if b.Ready() == nil {
			return errors.New("the cache still follows")
		}
		return nil
	})
	w, err := b.Watch(b.ctx(), "ns", api.WatchOptions{ResourceVersion: "1"}, v1)
	if err == nil {
		defer w.Close()
		_, err = w.Next(b.ctx())
	}
	wantStatus(t, err, 503, metav1.StatusReasonServiceUnavailable, "")
}
