package etcd

import (
	"context"
	"fmt"
	"sync/atomic"

	"apigen.dev/runtime/storage"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
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

// newWatcher returns a watcher with a gRPC stream of its own.
func (s *stream) newWatcher(client *clientv3.Client) clientv3.Watcher {
	return clientv3.NewWatchFromWatchClient(&resumption{WatchClient: pb.NewWatchClient(client.ActiveConnection()),
		stream: s}, client)
}

// Watch implements pb.WatchClient.
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

// Recv implements pb.Watch_WatchClient.
func (c *resumed) Recv() (*pb.WatchResponse, error) {
	response, err := c.Watch_WatchClient.Recv()
	if err != nil {
		return nil, err
	}
	found, heard := response.GetHeader().GetRevision(), c.of.heard.Load()
	if response.Created && found < heard {
		s := c.of.stream
		err := s.fail(fmt.Errorf("watch of %s: %w: etcd came back at revision %d after it had been at %d", s.prefix,
			storage.ErrUnavailable, found, heard))
		return nil, status.Error(codes.Aborted, err.Error()) // the watcher gives up, and closes its channel
	}
	if response.Created && c.of.began.Swap(true) && c.of.stream.fragile.Load() {
		s := c.of.stream
		err := s.fail(fmt.Errorf("watch of %s: %w: the connection was lost", s.prefix, storage.ErrUnavailable))
		return nil, status.Error(codes.Aborted, err.Error())
	}
	c.of.heard.Store(max(found, heard)) // a watcher reads from one connection at a time
	return response, nil
}
