package registry_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
)

// mute is a backend whose watches say nothing while it is quiet, as those of an etcd that is overloaded.
type mute struct {
	storage.Backend
	quiet atomic.Bool
}

func (m *mute) Watch(ctx context.Context, prefix string, after int64) (storage.Stream, error) {
	stream, err := m.Backend.Watch(ctx, prefix, after)
	return &muteStream{stream, m}, err
}

type muteStream struct {
	storage.Stream
	of *mute
}

func (s *muteStream) Next(ctx context.Context) (storage.Batch, error) {
	batch, err := s.Stream.Next(ctx)
	for s.of.quiet.Load() && err == nil {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return storage.Batch{}, ctx.Err()
		}
	}
	return batch, err
}

// A cache that lags behind storage is waited for, for a while; then consistent reads are answered by storage, and what
// may be older from memory, at once.
func TestLaggingCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := &mute{Backend: memory.New()}
		b := openOver(t, backend, registry.New(shop.Definition()), registry.Config{})
		b.create(`{"metadata":{"name":"a"}}`)
		b.wait()
		if got, _ := b.names("ns", verb.ListOptions{}); got != "a" {
			t.Fatal(got)
		}
		backend.quiet.Store(true)
		b.create(`{"metadata":{"name":"b"}}`)
		for _, test := range []struct {
			opts verb.ListOptions
			want string
			most time.Duration
		}{
			{verb.ListOptions{ResourceVersion: "0"}, "a", time.Millisecond},
			{verb.ListOptions{}, "a b", 4 * time.Second},
			{verb.ListOptions{Limit: 1}, "a", 4 * time.Second},
		} {
			begin := time.Now()
			if got, _ := b.names("ns", test.opts); got != test.want || time.Since(begin) > test.most {
				t.Errorf("%+v: %q after %s, want %q", test.opts, got, time.Since(begin), test.want)
			}
		}
		if w := b.get("b"); w.Name != "b" {
			t.Error(w)
		}
		if m := b.Handle.(store.Measured).Measure(b.ctx()); m.Cache.Lagging != 2 {
			t.Errorf("%d reads found that the cache lags", m.Cache.Lagging)
		}
		backend.quiet.Store(false)
		waitFor(t, func() error {
			if got, _ := b.names("ns", verb.ListOptions{ResourceVersion: "0"}); got != "a b" {
				return storage.ErrUnavailable
			}
			return nil
		})
	})
}
