package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/etcd"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// server is an etcd that answers transactions as a test wants, and counts them.
type server struct {
	etcdserverpb.UnimplementedKVServer
	etcdserverpb.UnimplementedAuthServer
	etcdserverpb.UnimplementedMaintenanceServer

	txn      func(n int64) error // n counts from 1; nil succeeds
	txns     atomic.Int64
	found    int64 // the revision of every key; 0 is none, -1 a failure to tell
	tokens   atomic.Int64
	version  string
	after    *server // tells its version first
	told     chan struct{}
	telling  sync.Once
	endpoint string
	grpc     *grpc.Server
	options  []grpc.ServerOption
}

func (s *server) Txn(context.Context, *etcdserverpb.TxnRequest) (*etcdserverpb.TxnResponse, error) {
	if err := s.txn(s.txns.Add(1)); err != nil {
		return nil, err
	}
	return &etcdserverpb.TxnResponse{Header: &etcdserverpb.ResponseHeader{Revision: 7}, Succeeded: true}, nil
}

func (s *server) Range(_ context.Context, r *etcdserverpb.RangeRequest) (*etcdserverpb.RangeResponse, error) {
	response := &etcdserverpb.RangeResponse{Header: &etcdserverpb.ResponseHeader{Revision: 9}}
	switch {
	case s.found < 0:
		return nil, rpctypes.ErrGRPCCorrupt
	case s.found > 0:
		response.Kvs = []*mvccpb.KeyValue{{Key: r.Key, ModRevision: s.found}}
	}
	return response, nil
}

func (s *server) Authenticate(context.Context,
	*etcdserverpb.AuthenticateRequest) (*etcdserverpb.AuthenticateResponse, error) {
	s.tokens.Add(1)
	return &etcdserverpb.AuthenticateResponse{Token: "token"}, nil
}

func (s *server) Status(ctx context.Context, _ *etcdserverpb.StatusRequest) (*etcdserverpb.StatusResponse, error) {
	if s.after != nil {
		select {
		case <-s.after.told:
		case <-ctx.Done():
		}
	}
	s.telling.Do(func() { close(s.told) })
	return &etcdserverpb.StatusResponse{Version: s.version}, nil
}

func serve(t *testing.T, s *server) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.told = make(chan struct{})
	s.grpc = grpc.NewServer(s.options...)
	etcdserverpb.RegisterKVServer(s.grpc, s)
	etcdserverpb.RegisterAuthServer(s.grpc, s)
	etcdserverpb.RegisterMaintenanceServer(s.grpc, s)
	s.endpoint = "http://" + listener.Addr().String()
	ended := make(chan error, 1)
	go func() { ended <- s.grpc.Serve(listener) }()
	t.Cleanup(func() {
		s.grpc.Stop()
		<-ended
	})
}

// connect makes a backend over a client of the default configuration, with all its retries.
func connect(t *testing.T, endpoint, user string) storage.Backend {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Logger: zap.NewNop(), Username: user,
		Password: user})
	if err != nil {
		t.Fatal(err)
	}
	backend := etcd.FromClient(client)
	t.Cleanup(func() { backend.Close() })
	return backend
}

// kinds are the errors of the contract that a failed write may be.
var kinds = []error{storage.ErrUnknownOutcome, storage.ErrUnavailable, storage.ErrNoSpace, storage.ErrTooLarge}

func expectKind(t *testing.T, err, kind error) {
	t.Helper()
	if err == nil {
		t.Error("the write succeeded")
	}
	for _, k := range kinds {
		if is := errors.Is(err, k); is != errors.Is(k, kind) {
			t.Errorf("%v: is %q: %t", err, k, is)
		}
	}
}

func TestWritesAreSentOnceAndTheirFailureIsNamed(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer error
		kind   error
	}{
		// The client's retry interceptor would repeat these.
		{"Canceled", rpctypes.ErrGRPCCanceled, storage.ErrUnknownOutcome},
		{"DeadlineExceeded", rpctypes.ErrGRPCDeadlineExceeded, storage.ErrUnknownOutcome},
		{"Timeout", rpctypes.ErrGRPCTimeout, storage.ErrUnknownOutcome},
		{"TimeoutDueToLeaderFail", rpctypes.ErrGRPCTimeoutDueToLeaderFail, storage.ErrUnknownOutcome},
		{"TimeoutDueToConnectionLost", rpctypes.ErrGRPCTimeoutDueToConnectionLost, storage.ErrUnknownOutcome},
		{"LeaderChanged", rpctypes.ErrGRPCLeaderChanged, storage.ErrUnknownOutcome},
		{"Stopped", rpctypes.ErrGRPCStopped, storage.ErrUnknownOutcome},
		{"Unavailable", status.Error(codes.Unavailable, "a proxy lost its server"), storage.ErrUnknownOutcome},
		{"Unknown", status.Error(codes.Unknown, "raft proposal dropped"), storage.ErrUnknownOutcome},
		{"Internal", status.Error(codes.Internal, "stream terminated"), storage.ErrUnknownOutcome},
		{"Corrupt", rpctypes.ErrGRPCCorrupt, storage.ErrUnknownOutcome},

		{"NoLeader", rpctypes.ErrGRPCNoLeader, storage.ErrUnavailable},
		{"TooManyRequests", rpctypes.ErrGRPCRequestTooManyRequests, storage.ErrUnavailable},
		{"NoSpace", rpctypes.ErrGRPCNoSpace, storage.ErrNoSpace},
		{"TooLarge", rpctypes.ErrGRPCRequestTooLarge, storage.ErrTooLarge},
		{"TooLargeForGRPC", status.Error(codes.ResourceExhausted, "grpc: received message larger than max"),
			storage.ErrTooLarge},
		{"PermissionDenied", rpctypes.ErrGRPCPermissionDenied, nil},
		{"EmptyKey", rpctypes.ErrGRPCEmptyKey, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &server{txn: func(int64) error { return c.answer }}
			serve(t, s)
			backend := connect(t, s.endpoint, "")
			_, err := backend.Put(context.Background(), "/a", []byte("1"), 0, 0)
			expectKind(t, err, c.kind)
			if n := s.txns.Load(); n != 1 {
				t.Errorf("the transaction was sent %d times", n)
			}
			_, err = backend.Delete(context.Background(), "/a", 1)
			expectKind(t, err, c.kind)
		})
	}
}

// etcd says that it has no space of writes that it refuses, and of one that it carries out as the space runs out.
func TestNoSpaceForAWriteThatMayBeDone(t *testing.T) {
	for _, c := range []struct {
		expect, found int64
		kind          error
	}{
		{0, 0, storage.ErrNoSpace},
		{5, 5, storage.ErrNoSpace},
		{0, 9, storage.ErrUnknownOutcome},
		{5, 9, storage.ErrUnknownOutcome},
		{5, 0, storage.ErrUnknownOutcome},
		{5, -1, storage.ErrUnknownOutcome},
	} {
		t.Run(fmt.Sprintf("%d-%d", c.expect, c.found), func(t *testing.T) {
			s := &server{found: c.found, txn: func(int64) error { return rpctypes.ErrGRPCNoSpace }}
			serve(t, s)
			_, err := connect(t, s.endpoint, "").Put(t.Context(), "/a", []byte("1"), c.expect, 0)
			expectKind(t, err, c.kind)
		})
	}
}

func TestExpiredTokenIsRenewedAndTheWriteSentAgain(t *testing.T) {
	s := &server{txn: func(n int64) error {
		if n == 1 {
			return rpctypes.ErrGRPCInvalidAuthToken
		}
		return nil
	}}
	serve(t, s)
	revision, err := connect(t, s.endpoint, "user").Put(context.Background(), "/a", []byte("1"), 0, 0)
	if err != nil || revision != 7 {
		t.Fatalf("got %d, %v", revision, err)
	}
	if s.txns.Load() != 2 || s.tokens.Load() != 2 {
		t.Errorf("%d transactions and %d tokens, expected 2 and 2", s.txns.Load(), s.tokens.Load())
	}
}

func TestConnectionLostWhileWriting(t *testing.T) {
	s := &server{}
	stopped := make(chan struct{})
	s.txn = func(int64) error {
		go func() {
			s.grpc.Stop() // closes the connection, and waits for us
			close(stopped)
		}()
		return status.Error(codes.Unavailable, "never arrives")
	}
	serve(t, s)
	_, err := connect(t, s.endpoint, "").Put(context.Background(), "/a", []byte("1"), 0, 0)
	expectKind(t, err, storage.ErrUnknownOutcome)
	<-stopped
	if n := s.txns.Load(); n != 1 {
		t.Errorf("the transaction was sent %d times", n)
	}
}

func TestCallerGivesUpWhileWriting(t *testing.T) {
	s := &server{}
	ctx, cancel := context.WithCancel(context.Background())
	release := make(chan struct{})
	s.txn = func(int64) error {
		cancel()
		<-release
		return nil
	}
	serve(t, s)
	_, err := connect(t, s.endpoint, "").Put(ctx, "/a", []byte("1"), 0, 0)
	close(release)
	expectKind(t, err, storage.ErrUnknownOutcome)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v: expected context.Canceled, too", err)
	}
}

func TestNothingListens(t *testing.T) {
	backend := connect(t, "http://"+deadAddress(t), "")
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := backend.Put(ctx, "/a", []byte("1"), 0, 0)
	expectKind(t, err, storage.ErrUnavailable)
	again, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	_, err = backend.Revision(again)
	expectKind(t, err, storage.ErrUnavailable)
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
}

// deadAddress is one where nobody listens.
func deadAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func TestNewFails(t *testing.T) {
	old := &server{version: "3.5.12"}
	serve(t, old)
	current := &server{version: "3.5.13"}
	serve(t, current)
	last := &server{version: "3.5.13", after: &server{version: "3.5.12"}}
	serve(t, last.after)
	serve(t, last)
	dead := "http://" + deadAddress(t)
	for _, c := range []struct {
		name   string
		config etcd.Config
		want   string // "" succeeds
	}{
		{"NoEndpoints", etcd.Config{}, "no endpoints are configured"},
		{"NoSuchFile", etcd.Config{Endpoints: []string{dead}, CAFile: "no/such.pem"}, "no/such.pem"},
		{"NotACertificate", etcd.Config{Endpoints: []string{dead}, CAFile: "write_test.go"}, "write_test.go"},
		{"KeyWithoutCertificate", etcd.Config{Endpoints: []string{dead}, KeyFile: "write_test.go"}, "write_test.go"},
		{"TooOld", etcd.Config{Endpoints: []string{old.endpoint}}, "has version 3.5.12"},
		{"OneTooOld", etcd.Config{Endpoints: []string{last.endpoint, last.after.endpoint}}, "has version 3.5.12"},
		{"OneDead", etcd.Config{Endpoints: []string{current.endpoint, dead}}, ""},
		{"OldEnough", etcd.Config{Endpoints: []string{current.endpoint}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.config.DialTimeout = 2 * time.Minute
			began := time.Now()
			backend, err := etcd.New(context.Background(), c.config)
			if err == nil {
				defer backend.Close()
			}
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) ||
				strings.Contains(err.Error(), "\n")):
				t.Errorf("got %v, expected one line with %q", err, c.want)
			case time.Since(began) > time.Minute:
				t.Errorf("it took %s: what is known was waited for", time.Since(began))
			}
			t.Log(err)
		})
	}
}

// inTime makes a backend that can't be made, and returns the error. Where that is another than wanted the machine may
// have been too busy to come so far within DialTimeout: it is tried again with more.
func inTime(config etcd.Config, want string) error {
	for config.DialTimeout = 300 * time.Millisecond; ; config.DialTimeout *= 3 {
		backend, err := etcd.New(context.Background(), config)
		if err == nil {
			return errors.Join(errors.New("it was made"), backend.Close())
		}
		if strings.Contains(err.Error(), want) || config.DialTimeout > 20*time.Second {
			return err
		}
	}
}

func TestNewWhereNobodyListens(t *testing.T) {
	dead := "http://" + deadAddress(t)
	for _, c := range []struct {
		name   string
		config etcd.Config
		want   string
	}{
		{"Unreachable", etcd.Config{Endpoints: []string{dead}}, "connection refused"},
		{"UnreachableWithUser", etcd.Config{Endpoints: []string{dead}, Username: "a", Password: "b"},
			"no answer from " + dead},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := inTime(c.config, c.want); !strings.Contains(err.Error(), c.want) ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, expected one line with %q", err, c.want)
			}
		})
	}
}
