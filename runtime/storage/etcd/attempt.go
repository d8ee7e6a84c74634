package etcd

import (
	"context"
	"sync"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// attempt watches over one write on its way, so that its outcome is told exactly and it is never sent twice.
//
// clientv3's retry interceptor (client/v3/retry_interceptor.go) calls a unary RPC up to 100 times. For writes its policy
// is "non-repeatable": an Unavailable is repeated only where no connection could be had, which is right. But before it
// asks the policy it repeats whatever failed with Canceled or DeadlineExceeded while the caller's context is alive, and
// that is what a server (or a proxy on the way) answers that gave up a request which it may have committed. The repeated
// transaction would then find the revision of its own first attempt and call it a conflict.
//
// gRPC asks per-call credentials for metadata just before it writes the headers of a request. So an attempt that never
// was asked was surely not sent, and one that is asked again after a call ended can refuse. Within one call gRPC asks
// again only where it repeats transparently what no server has processed; that is let through.
type attempt struct {
	mu      sync.Mutex
	sent    bool  // headers were about to be written
	ended   bool  // a call that was sent has ended
	failure error // what it ended with
	refused bool  // a repetition was refused
}

type attemptKey struct{}

// withAttempt puts an attempt into the context of a write.
func withAttempt(ctx context.Context) (context.Context, *attempt) {
	a := &attempt{}
	return context.WithValue(ctx, attemptKey{}, a), a
}

// onceKV sends each transaction at most once: that of the attempt in its context.
type onceKV struct{ etcdserverpb.KVClient }

func (kv onceKV) Txn(ctx context.Context, in *etcdserverpb.TxnRequest, opts ...grpc.CallOption) (*etcdserverpb.TxnResponse, error) {
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

// finish is told the result of each call.
func (a *attempt) finish(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sent && !a.refused {
		a.ended, a.failure = true, err
	}
}

// result returns what the write ended with, and whether it may have been processed.
func (a *attempt) result(err error) (sent bool, cause error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refused {
		return true, a.failure
	}
	return a.sent, err
}
