package etcd

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/storage"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
)

// Watch has a watcher of its own, which is a gRPC stream of its own on the shared connection: etcd answers a request
// for progress only when all watches of a stream are synchronized, and sends the answer to all of them.
//
// The watcher resumes by itself after its connection was lost. It fails where etcd has no leader, or is behind the
// revision that the watcher has seen.
func (b *backend) Watch(ctx context.Context, prefix string, after int64) (storage.Stream, error) {
	if err := b.usable(ctx); err != nil {
		return nil, err
	}
	if err := storage.ValidateWatch(after); err != nil {
		return nil, err
	}
	if after == 0 {
		bounded, cancel := context.WithTimeout(ctx, openTimeout)
		defer cancel()
		var err error
		if after, err = b.Revision(bounded); err != nil {
			return nil, err
		}
	}
	s := b.newStream(ctx, prefix, min(after, math.MaxInt64-1)) // the watch begins after floor
	if err := b.register(s); err != nil {
		s.release()
		return nil, err
	}
	if err := s.open(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

type stream struct {
	backend *backend
	ctx     context.Context // the caller's
	prefix  string
	floor   int64 // the stream delivers nothing up to it

	watching context.Context // ctx, until the stream is closed
	cancel   context.CancelFunc
	watcher  clientv3.Watcher
	events   clientv3.WatchChan
	once     sync.Once
	shut     chan struct{} // closed when the stream begins to end

	failure atomic.Pointer[error] // the error that ended the stream
	fragile atomic.Bool           // the stream ends with its connection
}

var _ storage.Resumer = (*stream)(nil)

// EndWithConnection implements storage.Resumer. A stream of an etcd in the same process has no connection.
func (s *stream) EndWithConnection() { s.fragile.Store(true) }

func (b *backend) newStream(ctx context.Context, prefix string, after int64) *stream {
	s := &stream{backend: b, ctx: ctx, prefix: prefix, floor: after, shut: make(chan struct{})}
	s.watching, s.cancel = context.WithCancel(clientv3.WithRequireLeader(ctx))
	if b.remote {
		calls := &resumption{WatchClient: pb.NewWatchClient(b.client.ActiveConnection()), stream: s}
		s.watcher = clientv3.NewWatchFromWatchClient(calls, b.client)
	} else {
		s.watcher = &sharedWatcher{Watcher: b.client.Watcher, key: strconv.FormatInt(b.watches.Add(1), 10)}
	}
	return s
}

// open starts the watch, and waits for a bounded time until etcd has confirmed it.
func (s *stream) open() error {
	late := time.AfterFunc(openTimeout, s.cancel)
	// The client puts fragments together again; otherwise etcd never splits the events of one revision.
	s.events = s.watcher.Watch(s.watching, s.prefix, clientv3.WithPrefix(), clientv3.WithRev(s.floor+1),
		clientv3.WithPrevKV(), clientv3.WithProgressNotify(), clientv3.WithFragment(), clientv3.WithCreatedNotify())
	if late.Stop() {
		return s.ended(s.ctx)
	}
	if err := s.ended(s.ctx); err != nil {
		return err
	}
	return fmt.Errorf("watch of %s: %w: etcd did not begin it within %s", s.prefix, storage.ErrUnavailable, openTimeout)
}

func (s *stream) Next(ctx context.Context) (storage.Batch, error) {
	for {
		if err := s.ended(ctx); err != nil {
			return storage.Batch{}, err
		}
		select {
		case response, ok := <-s.events:
			if !ok {
				return storage.Batch{}, s.fail(s.lost(nil))
			}
			if batch, ok, err := s.batch(response); err != nil {
				return storage.Batch{}, s.fail(err)
			} else if ok {
				return batch, nil
			}
		case <-s.backend.closed:
		case <-s.shut:
		case <-s.ctx.Done():
		case <-ctx.Done():
		}
	}
}

// batch turns a response into a batch; ok is false for a response that reports nothing.
//
// The revision in the header of a response with events may be ahead of events that have not come yet; that of a
// progress notification never is.
func (s *stream) batch(response clientv3.WatchResponse) (batch storage.Batch, ok bool, err error) {
	if response.CompactRevision != 0 {
		return batch, false, fmt.Errorf("watch of %s: %w", s.prefix,
			&storage.CompactedError{Revision: response.CompactRevision})
	}
	if err := response.Err(); err != nil {
		return batch, false, s.lost(err)
	}
	if response.Created {
		// Newer servers don't answer a request for progress before a revision above floor has come, since floor might
		// be of the future. Where it is not, the stream reports floor itself.
		return storage.Batch{Revision: s.floor}, response.Header.Revision >= s.floor, nil
	}
	if response.IsProgressNotify() {
		return storage.Batch{Revision: response.Header.Revision}, true, nil
	}
	for _, event := range response.Events {
		if event.Kv.ModRevision <= s.floor {
			continue // etcd-io/etcd#20221: a watch of the future that was resumed before it came
		}
		batch.Events = append(batch.Events, convert(event))
		batch.Revision = event.Kv.ModRevision
	}
	return batch, len(batch.Events) > 0, nil
}

func convert(event *clientv3.Event) storage.Event {
	e := storage.Event{Created: event.IsCreate(), KeyValue: *keyValue(event.Kv)}
	if event.Type == clientv3.EventTypeDelete {
		e.Deleted, e.Value = true, nil
	}
	if event.PrevKv != nil {
		e.Previous = keyValue(event.PrevKv)
	}
	return e
}

// lost returns the error for a watch that ended, with etcd's reason if there is one.
func (s *stream) lost(err error) error {
	if ended := s.ended(s.ctx); ended != nil {
		return ended
	}
	if err == nil {
		return fmt.Errorf("watch of %s: %w", s.prefix, storage.ErrUnavailable)
	}
	if rejected(err) && code(err) != codes.Unavailable {
		return fmt.Errorf("watch of %s: etcd: %w", s.prefix, err)
	}
	return fmt.Errorf("watch of %s: %w: %w", s.prefix, storage.ErrUnavailable, err)
}

func (s *stream) fail(err error) error {
	s.failure.CompareAndSwap(nil, &err)
	return err
}

// ended returns the error with which the stream has ended, or nil.
func (s *stream) ended(ctx context.Context) error {
	select {
	case <-s.backend.closed:
		return storage.ErrClosed
	case <-s.shut:
		return storage.ErrClosed
	default:
	}
	if failure := s.failure.Load(); failure != nil {
		return *failure
	}
	if err := s.ctx.Err(); err != nil {
		return err
	}
	return ctx.Err()
}

// progressTimeout bounds how long a request for progress waits for a connection. Then the request is lost.
const progressTimeout = time.Second

func (s *stream) RequestProgress(ctx context.Context) error {
	if err := s.ended(ctx); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, progressTimeout)
	defer cancel()
	// The client finds the stream by the metadata of the context.
	sent, _ := metadata.FromOutgoingContext(s.watching)
	bounded = metadata.NewOutgoingContext(bounded, sent)
	if err := s.watcher.RequestProgress(bounded); err != nil && bounded.Err() == nil {
		return s.lost(err)
	}
	return s.ended(ctx)
}

func (s *stream) Close() {
	s.backend.forget(s)
	s.release()
}

// release ends the watch and waits for its goroutines.
func (s *stream) release() {
	s.once.Do(func() {
		close(s.shut)
		s.cancel()
		_ = s.watcher.Close() // the error is why the stream ended, which the reader has already
	})
}
