package etcd

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"apigen.dev/runtime/storage"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// resumption is the client with which a stream's watcher calls etcd. The watcher resumes by itself. resumption ends the
// stream where the resumed etcd is behind the revision that the stream has seen: older data has replaced its data, or
// this member lags. A new watch shows which of the two it is. Where the stream is to end with its connection,
// resumption ends it in any case.
type resumption struct {
	pb.WatchClient
	stream *stream
	heard  atomic.Int64 // the highest revision in a header
	began  atomic.Bool  // the watch was created once
}

func (r *resumption) Watch(ctx context.Context, options ...grpc.CallOption) (pb.Watch_WatchClient, error) {
	connection, err := r.WatchClient.Watch(ctx, options...)
	if err != nil {
		return nil, err
	}
	return &resumed{connection, r}, nil
}

// resumed is one connection of a resumption.
type resumed struct {
	pb.Watch_WatchClient
	of *resumption
}

func (c *resumed) Recv() (*pb.WatchResponse, error) {
	response, err := c.Watch_WatchClient.Recv()
	if err != nil {
		return nil, err
	}
	found, heard, reason := response.GetHeader().GetRevision(), c.of.heard.Load(), ""
	switch {
	case response.Created && found < heard:
		reason = fmt.Sprintf("etcd came back at revision %d after it had been at %d", found, heard)
	case response.Created && c.of.began.Swap(true) && c.of.stream.fragile.Load():
		reason = "the connection was lost"
	}
	if reason != "" {
		s := c.of.stream
		err := s.fail(fmt.Errorf("watch of %s: %w: %s", s.prefix, storage.ErrUnavailable, reason))
		return nil, status.Error(codes.Aborted, err.Error()) // the watcher gives up, and closes its channel
	}
	c.of.heard.Store(max(found, heard)) // a watcher reads from one connection at a time
	return response, nil
}

// sharedWatcher is one stream of the one watcher that a client of an etcd in the same process has: without a
// connection, a client can't make another one. That watcher opens a stream for each set of metadata, so every
// sharedWatcher has its own.
type sharedWatcher struct {
	clientv3.Watcher
	key string

	mu     sync.Mutex
	events clientv3.WatchChan
}

func (w *sharedWatcher) apart(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "apigen-watch", w.key)
}

func (w *sharedWatcher) Watch(ctx context.Context, key string, options ...clientv3.OpOption) clientv3.WatchChan {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = w.Watcher.Watch(w.apart(ctx), key, options...)
	return w.events
}

func (w *sharedWatcher) RequestProgress(ctx context.Context) error {
	return w.Watcher.RequestProgress(w.apart(ctx))
}

// Close waits until the watch has ended. The caller has ended its context.
func (w *sharedWatcher) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.events != nil {
		for range w.events { // drop the remaining events
		}
	}
	return nil
}
