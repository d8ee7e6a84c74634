package testbed

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"apigen.dev/runtime/storage"
)

// Outage is a backend that fails requests for some keys, as if storage were away, from Reads or Changes to End.
type Outage struct {
	storage.Backend
	reads, changes atomic.Pointer[string]
	failed         chan struct{} // holds one for a request that failed
}

// NewOutage returns a backend that fails nothing yet.
func NewOutage(backend storage.Backend) *Outage {
	return &Outage{Backend: backend, failed: make(chan struct{}, 1)}
}

// Reads fails reads of single keys that have a part.
func (o *Outage) Reads(part string) { o.reads.Store(&part) }

// Changes fails writes to keys that have a part, but for creations.
func (o *Outage) Changes(part string) { o.changes.Store(&part) }

// End fails nothing more.
func (o *Outage) End() { o.reads.Store(nil); o.changes.Store(nil) }

// Await waits until one more request has failed.
func (o *Outage) Await(t testing.TB) {
	t.Helper()
	select {
	case <-o.failed:
	case <-time.After(time.Minute):
		t.Fatal("nothing fails: the server doesn't try again")
	}
}

func (o *Outage) fails(part *atomic.Pointer[string], key string) bool {
	if p := part.Load(); p == nil || !strings.Contains(key, *p) {
		return false
	}
	select {
	case o.failed <- struct{}{}:
	default:
	}
	return true
}

// Get implements storage.Backend.
func (o *Outage) Get(
	ctx context.Context, key string, options storage.GetOptions,
) (*storage.KeyValue, int64, error) {
	if o.fails(&o.reads, key) {
		return nil, 0, storage.ErrUnavailable
	}
	return o.Backend.Get(ctx, key, options)
}

// Put implements storage.Backend.
func (o *Outage) Put(
	ctx context.Context, key string, value []byte, expect int64, ttl time.Duration,
) (int64, error) {
	if expect > 0 && o.fails(&o.changes, key) {
		return 0, storage.ErrUnavailable
	}
	return o.Backend.Put(ctx, key, value, expect, ttl)
}
