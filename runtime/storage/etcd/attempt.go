package etcd

import (
	"context"
	"sync"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// attempt observes one write, so that the backend reports its outcome exactly and never sends it twice.
//
// clientv3's retry interceptor (client/v3/retry_interceptor.go) calls a unary RPC up to 100 times. For writes its
// policy is "non-repeatable": it repeats an Unavailable only if it could not get a connection, which is right. But
// before it asks the policy it repeats every call that failed with Canceled or DeadlineExceeded while the caller's
// context is alive. A server (or a proxy on the way) answers so when it gives up a request that it may have committed.
// The repeated transaction would then find the revision of its own first attempt and report a conflict.
//
// gRPC asks per-call credentials for metadata just before it writes the headers of a request. So an attempt that gRPC
// never asked was surely not sent, and an attempt that gRPC asks again after a call ended can refuse. Within one call
// gRPC asks again only if it transparently repeats a request that no server has processed; the attempt lets that
// through.
type attempt struct {
	mu      sync.Mutex
	sent    bool  // headers were about to be written
	ended   bool  // a call that was sent has ended
	failure error // the error with which it ended
	refused bool  // the attempt refused a repetition
}

type attemptKey struct{}

func withAttempt(ctx context.Context) (context.Context, *attempt) {
	a := &attempt{}
	return context.WithValue(ctx, attemptKey{}, a), a
}

// onceKV sends each transaction at most once: that of the attempt in its context.
type onceKV struct{ etcdserverpb.KVClient }

func (kv onceKV) Txn(ctx context.Context, in *etcdserverpb.TxnRequest,
	opts ...grpc.CallOption) (*etcdserverpb.TxnResponse, error) {
	if a, ok := ctx.Value(attemptKey{}).(*attempt); ok {
		opts = append(opts, grpc.PerRPCCredentials(a), grpc.OnFinish(a.finish))
	}
	return kv.KVClient.Txn(ctx, in, opts...)
}

// GetRequestMetadata implements credentials.PerRPCCredentials. It gives no metadata.
func (a *attempt) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended && !rejected(a.failure) {
		a.refused = true
		return nil, status.Error(codes.Unknown, "not sent again: the outcome of the first attempt is unknown")
	}
	a.sent, a.ended = true, false
	return nil, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials. There is no secret in the metadata.
func (a *attempt) RequireTransportSecurity() bool { return false }

func (a *attempt) finish(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sent && !a.refused {
		a.ended, a.failure = true, err
	}
}

// result returns the error with which the write ended, and whether a server may have processed the write.
func (a *attempt) result(err error) (sent bool, cause error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refused {
		return true, a.failure
	}
	return a.sent, err
}
