package etcd

import (
	"context"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"
)

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
