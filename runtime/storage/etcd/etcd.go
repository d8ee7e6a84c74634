// Package etcd is the backend over an etcd cluster: the contract of runtime/storage on go.etcd.io/etcd/client/v3.
//
// It knows storage and etcd's client, nothing else. It adds exactness to the client: it never repeats a write of
// unknown outcome, and distinguishes it from one that was surely not sent (attempt.go); a report of progress belongs to
// one stream (stream.go); keys with a TTL share leases (lease.go).
//
// The oldest etcd that it works with is 3.4.31 in the 3.4 line and 3.5.13 in the 3.5 line: before these, a requested
// progress notification could overtake events (etcd-io/etcd#15220, fixed in 3.4.25 and 3.5.8) or be missing for watches
// that see no event (etcd-io/etcd#17507). New asks every endpoint that answers.
package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/storage"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// New connects to an etcd cluster. It fails within the dial timeout, and with one line, where no endpoint answers,
// where one is too old, or where a file can't be read.
func New(ctx context.Context, config Config) (storage.Backend, error) {
	client, err := dial(ctx, config)
	if err != nil {
		return nil, err
	}
	return fromClient(client, cmp.Or(config.Prefix, "/")), nil
}

// FromClient returns a backend over a client. The backend owns the client from now on: Close closes it. FromClient
// doesn't ask the server for its version; the caller guarantees that it is new enough. The client may be one without a
// connection, of an etcd in the same process.
func FromClient(client *clientv3.Client) storage.Backend { return fromClient(client, "/") }

func fromClient(client *clientv3.Client, anyKey string) *backend {
	b := &backend{client: client, kv: client.KV, anyKey: anyKey, leases: newLeases(client), closed: make(chan struct{}),
		streams: map[*stream]struct{}{}}
	if connection := client.ActiveConnection(); connection != nil {
		b.remote = true
		b.kv = clientv3.NewKVFromKVClient(onceKV{etcdserverpb.NewKVClient(connection)}, client)
	}
	return b
}

type backend struct {
	client *clientv3.Client
	kv     clientv3.KV // sends at most one attempt for each write
	remote bool        // there is a connection, on which attempts can be observed
	anyKey string      // the key of reads that want the revision alone; it need not exist
	leases *leases

	watches atomic.Int64 // the number of watches so far

	mu      sync.Mutex
	closed  chan struct{} // closed under mu
	streams map[*stream]struct{}
}

func (b *backend) usable(ctx context.Context) error {
	select {
	case <-b.closed:
		return storage.ErrClosed
	default:
		return ctx.Err()
	}
}

// Close may be called more than once. Calls under way fail.
func (b *backend) Close() error {
	b.mu.Lock()
	select {
	case <-b.closed:
		b.mu.Unlock()
		return nil
	default:
	}
	close(b.closed)
	streams := b.streams
	b.streams = nil
	b.mu.Unlock()
	for s := range streams {
		s.release()
	}
	if err := b.client.Close(); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("closing the etcd client: %w", err)
	}
	return nil
}

func (b *backend) register(s *stream) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.streams == nil {
		return storage.ErrClosed
	}
	b.streams[s] = struct{}{}
	return nil
}

func (b *backend) forget(s *stream) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.streams, s)
}

func (b *backend) Compact(ctx context.Context, revision int64) error {
	if err := b.usable(ctx); err != nil {
		return err
	}
	_, err := b.kv.Compact(ctx, revision)
	if err != nil {
		return b.readError(ctx, fmt.Sprintf("compact %d", revision), err)
	}
	return nil
}

// openTimeout bounds the time in which etcd must confirm a watch.
const openTimeout = 10 * time.Second
