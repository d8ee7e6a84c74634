package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/etcdtest"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/etcd"
	"apigen.dev/runtime/storage/storagetest"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

func patience(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// follow reads watches until the event at revision last has come, and watches again after what came last where one is
// lost. It returns the revisions that it saw.
func follow(ctx context.Context, backend storage.Backend, after, last int64) (seen []int64, err error) {
	for {
		stream, err := backend.Watch(ctx, "/watched/", after)
		for err == nil {
			var batch storage.Batch
			if batch, err = stream.Next(ctx); err != nil {
				break
			}
			for _, event := range batch.Events {
				seen = append(seen, event.Revision)
			}
			if after = batch.Revision; after >= last {
				stream.Close()
				return seen, nil
			}
		}
		if stream != nil {
			stream.Close()
		}
		if !errors.Is(err, storage.ErrUnavailable) {
			return seen, err
		}
	}
}

func TestWatchLosesNothingWhenEtcdIsKilled(t *testing.T) {
	process, ctx := etcdtest.Start(t), patience(t)
	backend := open(t, process)
	start, err := backend.Revision(ctx)
	if err != nil {
		t.Fatal(err)
	}
	const before, after = 50, 50
	type result struct {
		seen []int64
		err  error
	}
	results, done := make(chan result, 1), start+before+after
	go func() {
		seen, err := follow(ctx, backend, start, done)
		results <- result{seen, err}
	}()
	var written []int64
	for i := range before + after {
		if i == before {
			process.Restart()
		}
		revision, err := putSurely(ctx, backend, fmt.Sprintf("/watched/%d", i))
		if err != nil {
			t.Fatal(err)
		}
		written = append(written, revision)
	}
	r := <-results
	if r.err != nil {
		t.Fatal(r.err)
	}
	if fmt.Sprint(r.seen) != fmt.Sprint(written) {
		t.Errorf("seen    %v\nwritten %v", r.seen, written)
	}
}

// putSurely creates a key, and finds out where the outcome is not known.
func putSurely(ctx context.Context, backend storage.Backend, key string) (int64, error) {
	for {
		revision, err := backend.Put(ctx, key, []byte("1"), 0, 0)
		var conflict *storage.ConflictError
		switch {
		case err == nil:
			return revision, nil
		case errors.As(err, &conflict) && conflict.Current != nil:
			return conflict.Current.Revision, nil
		case !errors.Is(err, storage.ErrUnknownOutcome) && !errors.Is(err, storage.ErrUnavailable):
			return 0, err
		}
	}
}

func TestWritesToAHaltedEtcd(t *testing.T) {
	process, ctx := etcdtest.Start(t), patience(t)
	backend := open(t, process)
	first, err := backend.Put(ctx, "/a", []byte("0"), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	process.Stop()
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err = backend.Put(short, "/a", []byte("1"), first, 0)
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the answer took %s", took)
	}
	process.Continue()
	expectKind(t, err, storage.ErrUnknownOutcome)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v: expected context.DeadlineExceeded, too", err)
	}
	// The write may have been applied, before or after the next one, but not more than once.
	revision, err := backend.Put(ctx, "/end", nil, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	kv, _, err := backend.Get(ctx, "/a", storage.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case kv.Revision == first && string(kv.Value) == "0" && revision == first+1:
	case kv.Revision == first+1 && string(kv.Value) == "1" && revision == first+2:
	case kv.Revision == first+2 && string(kv.Value) == "1" && revision == first+1:
	default:
		t.Errorf("got %s at revision %d, the next write at %d; the first was at %d", kv.Value, kv.Revision, revision,
			first)
	}
}

func TestReadsOfAKilledEtcd(t *testing.T) {
	process := etcdtest.Start(t)
	backend := open(t, process)
	stream, err := backend.Watch(patience(t), "/", 0)
	if err != nil {
		t.Fatal(err)
	}
	process.Kill()
	ctx, cancel := context.WithTimeout(patience(t), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err = backend.Revision(ctx)
	expectKind(t, err, storage.ErrUnavailable)
	again, cancel := context.WithTimeout(patience(t), 300*time.Millisecond)
	defer cancel()
	_, err = backend.Put(again, "/a", nil, 0, 0)
	expectKind(t, err, storage.ErrUnavailable)
	if err := stream.RequestProgress(ctx); err == nil {
		t.Error("RequestProgress succeeds after its context ended")
	}
	stream.Close()
	if err := backend.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestKeysOfSimilarTTLShareALease(t *testing.T) {
	process, ctx := etcdtest.Start(t), patience(t)
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{process.Endpoint()}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	backend := etcd.FromClient(client)
	defer backend.Close()
	count := func(ttl time.Duration, keys int) int {
		t.Helper()
		for i := range keys {
			if _, err := backend.Put(ctx, fmt.Sprintf("/%s/%d", ttl, i), nil, 0, ttl); err != nil {
				t.Fatal(err)
			}
		}
		leases, err := client.Leases(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return len(leases.Leases)
	}
	if n := count(time.Hour, 50); n != 1 {
		t.Errorf("%d leases for 50 keys", n)
	}
	if n := count(2*time.Hour, 50); n != 2 {
		t.Errorf("%d leases for 50 keys each of two TTLs", n)
	}
	if n := count(3*time.Hour, 1001); n != 4 {
		t.Errorf("%d leases, expected one more for each thousand keys begun", n)
	}
	leases, err := client.Leases(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, lease := range leases.Leases { // a revoked lease is noticed, and another one taken
		if _, err := client.Revoke(ctx, lease.ID); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := backend.Put(ctx, "/new", nil, 0, time.Hour); err != nil {
		t.Error(err)
	}
}

// Keys with a TTL also expire where etcd was killed and came back, and where the server did: a watch from before gets
// the deletions. A shared lease survives a restart.
func TestTTLOverRestarts(t *testing.T) {
	t.Parallel()
	// A key that is to outlive the restart gets more time if the machine was too busy for the time that it had.
	for enough := 3 * time.Second; !expireOverRestart(t, enough); enough *= 2 {
		t.Logf("etcd was not back after %s", enough)
	}
}

// expireOverRestart reports whether keys with a TTL of enough were still there when etcd was back.
func expireOverRestart(t *testing.T, enough time.Duration) bool {
	t.Helper()
	process, ctx := etcdtest.Start(t), patience(t)
	backend := open(t, process)
	start, err := backend.Revision(ctx)
	if err != nil {
		t.Fatal(err)
	}
	put := func(key string, expect int64, ttl time.Duration) int64 {
		t.Helper()
		revision, err := backend.Put(ctx, "/watched/"+key, []byte(key), expect, ttl)
		if err != nil {
			t.Fatal(err)
		}
		return revision
	}
	// overwrite reports whether the key was there.
	overwrite := func(key string, expect int64, ttl time.Duration) bool {
		t.Helper()
		_, err := backend.Put(ctx, "/watched/"+key, []byte(key), expect, ttl)
		var late *storage.ConflictError
		if err != nil && (!errors.As(err, &late) || late.Current != nil) {
			t.Fatal(err)
		}
		return err == nil
	}
	const brief = 2 * time.Second
	put("before", 0, brief)
	kept := put("kept", 0, enough)
	freed := put("freed", 0, enough)
	process.Kill()
	process.Restart()
	if err := backend.Close(); err != nil {
		t.Fatal(err)
	}
	backend = open(t, process)
	if !overwrite("kept", kept, storage.KeepTTL) || !overwrite("freed", freed, 0) {
		return false
	}
	put("after", 0, brief)
	stream, err := backend.Watch(ctx, "/watched/", start)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	gone := map[string]bool{}
	for len(gone) < 3 {
		batch, err := stream.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range batch.Events {
			if event.Deleted {
				gone[event.Key] = true
			}
		}
	}
	if n, err := backend.Count(ctx, "/watched/"); err != nil || n != 1 || gone["/watched/freed"] {
		t.Errorf("%d keys are left, gone are %v, %v", n, gone, err)
	}
	return true
}

func TestFullEtcdRefusesWrites(t *testing.T) {
	process, ctx := etcdtest.Start(t, "--quota-backend-bytes=1048576"), patience(t)
	backend := open(t, process)
	value := []byte(strings.Repeat("x", 100<<10))
	for i := range 10_000 { // etcd looks at its size when it commits, which on a fast machine is many writes later
		if _, err := backend.Put(ctx, fmt.Sprintf("/%d", i), value, 0, 0); err != nil &&
			!errors.Is(err, storage.ErrUnknownOutcome) {
			expectKind(t, err, storage.ErrNoSpace)
			return
		}
	}
	t.Error("etcd takes more than its quota")
}

func TestUserWithItsOwnPrefix(t *testing.T) {
	process, ctx := etcdtest.Start(t), patience(t)
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{process.Endpoint()}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_, err = client.UserAdd(ctx, "root", "secret")
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(nil, err)
	must(client.UserGrantRole(ctx, "root", "root"))
	must(client.UserAdd(ctx, "apigen", "secret"))
	must(client.RoleAdd(ctx, "apigen"))
	must(client.RoleGrantPermission(ctx, "apigen", "/registry/", clientv3.GetPrefixRangeEnd("/registry/"),
		clientv3.PermissionType(clientv3.PermReadWrite)))
	must(client.UserGrantRole(ctx, "apigen", "apigen"))
	must(client.AuthEnable(ctx))

	config := etcd.Config{Endpoints: []string{process.Endpoint()}, DialTimeout: time.Minute}
	if _, err := etcd.New(ctx, config); err == nil || !strings.Contains(err.Error(), "requires a user") {
		t.Errorf("without a user: got %v", err)
	}
	config.Username, config.Password, config.Prefix = "apigen", "wrong", "/registry/"
	if _, err := etcd.New(ctx, config); err == nil || !strings.Contains(err.Error(), "logging in as apigen") {
		t.Errorf("with a wrong password: got %v", err)
	}
	config.Password = "secret"
	backend, err := etcd.New(ctx, config)
	must(nil, err)
	defer backend.Close()
	revision, err := backend.Revision(ctx)
	must(nil, err)
	stream, err := backend.Watch(ctx, "/registry/", revision)
	must(nil, err)
	defer stream.Close()
	must(backend.Put(ctx, "/registry/a", nil, 0, 0))
	for batch := (storage.Batch{}); len(batch.Events) == 0; {
		batch, err = stream.Next(ctx)
		must(nil, err)
	}
	if _, err := backend.Put(ctx, "/other", nil, 0, 0); err == nil {
		t.Error("a write outside of the prefix succeeds")
	} else {
		expectKind(t, err, nil)
	}
	other, err := backend.Watch(ctx, "/other", 0)
	must(nil, err)
	defer other.Close()
	if _, err := other.Next(ctx); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("a watch outside of the prefix: got %v", err)
	}
}

func BenchmarkEtcd(b *testing.B) {
	process := etcdtest.Start(b)
	storagetest.Benchmark(b, func(b *testing.B) storage.Backend { return open(b, process) })
}
