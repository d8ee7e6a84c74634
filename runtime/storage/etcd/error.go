package etcd

import (
	"context"
	"errors"
	"fmt"

	"apigen.dev/runtime/storage"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// code returns the gRPC code of an error, in any form; clientv3 has given the server's errors types of its own.
func code(err error) codes.Code {
	var fromServer rpctypes.EtcdError
	switch {
	case errors.As(err, &fromServer):
		return fromServer.Code()
	case errors.Is(err, context.Canceled):
		return codes.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return codes.DeadlineExceeded
	}
	return status.Code(err)
}

// rejected reports whether a failed request was surely not carried out: the server rejected it before or instead of
// applying it. An unknown error is not a rejection.
func rejected(err error) bool {
	if err == nil {
		return false
	}
	if errors.Is(rpctypes.Error(err), rpctypes.ErrNoLeader) {
		return true // our requests demand a leader, and a server without one doesn't look at them
	}
	switch code(err) {
	case codes.InvalidArgument, codes.NotFound, codes.AlreadyExists, codes.PermissionDenied, codes.ResourceExhausted,
		codes.FailedPrecondition, codes.OutOfRange, codes.Unimplemented, codes.Unauthenticated:
		return true
	}
	return false
}

// writeError returns the contract's error for a failed write. Nothing was written unless it is an ErrUnknownOutcome.
func (b *backend) writeError(ctx context.Context, what string, err error, sent bool) error {
	if sent && !rejected(err) {
		if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
			err = fmt.Errorf("%w: %w", err, ended)
		}
		return fmt.Errorf("%s: %w: %w", what, storage.ErrUnknownOutcome, err)
	}
	return b.readError(ctx, what, err)
}

// readError returns the contract's error for a failed read, or for a write that was surely not carried out.
func (b *backend) readError(ctx context.Context, what string, err error) error {
	kind := storageError(err)
	switch {
	case kind != nil:
		var compacted *storage.CompactedError
		if errors.As(kind, &compacted) {
			return fmt.Errorf("%s: %w", what, kind)
		}
		return fmt.Errorf("%s: %w: %w", what, kind, err)
	case b.usable(context.Background()) != nil:
		return fmt.Errorf("%s: %w", what, storage.ErrClosed)
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("%s: %w", what, ctx.Err())
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w: %w", what, storage.ErrUnavailable, ctx.Err())
	}
	switch code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
		return fmt.Errorf("%s: %w: %w", what, storage.ErrUnavailable, err)
	}
	return fmt.Errorf("%s: etcd: %w", what, err)
}

// storageError returns the contract's error for an answer of the server; nil if the contract has none.
func storageError(err error) error {
	err = rpctypes.Error(err)
	switch {
	case errors.Is(err, rpctypes.ErrCompacted):
		return &storage.CompactedError{}
	case errors.Is(err, rpctypes.ErrFutureRev):
		return storage.ErrFutureRevision
	case errors.Is(err, rpctypes.ErrRequestTooLarge):
		return storage.ErrTooLarge
	case errors.Is(err, rpctypes.ErrNoSpace):
		return storage.ErrNoSpace
	case errors.Is(err, rpctypes.ErrTooManyRequests):
		return storage.ErrUnavailable
	case code(err) == codes.ResourceExhausted:
		return storage.ErrTooLarge // gRPC's own limits, on this side or on the server's
	}
	return nil
}
