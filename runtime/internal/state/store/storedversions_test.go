package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const recordKey = "/registry/_apigen/storageversions/widgets.shop.example.com"

func recorder(backend storage.Backend, version string) *StoredVersions {
	return NewStoredVersions(backend, "/registry/", schema.GroupResource{Group: "shop.example.com",
		Resource: "widgets"}, version)
}

func recorded(t *testing.T, backend storage.Backend) string {
	t.Helper()
	kv, _, err := backend.Get(t.Context(), recordKey, storage.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if kv == nil {
		return ""
	}
	return strings.TrimSpace(string(kv.Value))
}

// counted counts what a recorder asks of its backend, and fails writes as it is told.
type counted struct {
	storage.Backend
	mu         sync.Mutex
	gets, puts int
	fail       error
	effect     bool
}

func (c *counted) Get(ctx context.Context, key string, opts storage.GetOptions) (*storage.KeyValue, int64, error) {
	c.mu.Lock()
	c.gets++
	c.mu.Unlock()
	return c.Backend.Get(ctx, key, opts)
}

func (c *counted) Put(ctx context.Context, key string, value []byte, expect int64, ttl time.Duration) (int64, error) {
	c.mu.Lock()
	c.puts++
	fail, effect := c.fail, c.effect
	c.fail = nil
	c.mu.Unlock()
	if fail != nil && !effect {
		return 0, fail
	}
	revision, err := c.Backend.Put(ctx, key, value, expect, ttl)
	return revision, errors.Join(fail, err)
}

// leaderless fails reads, as etcd does while its members elect a leader.
type leaderless struct {
	storage.Backend
	failures int
	err      error
}

func (l *leaderless) Get(ctx context.Context, key string, opts storage.GetOptions) (*storage.KeyValue, int64, error) {
	if l.failures--; l.failures >= 0 {
		return nil, 0, l.err
	}
	return l.Backend.Get(ctx, key, opts)
}

// A server that starts while etcd elects a leader waits for it. Other errors end it at once, and so does its own end.
func TestVersionsAreReadWhenTheBackendIsAvailable(t *testing.T) {
	away := fmt.Errorf("get: %w: etcdserver: leader changed", storage.ErrUnavailable)
	synctest.Test(t, func(t *testing.T) {
		backend := &leaderless{Backend: memory.New(), failures: 3, err: away}
		defer backend.Close()
		if err := recorder(backend, "v1").Check(t.Context(), []string{"v1"}); err != nil || backend.failures != -1 {
			t.Errorf("after %d failures: %v", 3-backend.failures, err)
		}
		backend.failures, backend.err = 1, errors.New("no permission")
		if err := recorder(backend, "v1").Check(t.Context(), []string{"v1"}); !errors.Is(err, backend.err) {
			t.Error(err)
		}
		backend.failures, backend.err = 1_000_000, away
		began := time.Now()
		if err := recorder(backend, "v1").Check(t.Context(), []string{"v1"}); !errors.Is(err, away) ||
			time.Since(began) != openTimeout {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

// A version is recorded once, before the first write, and then believed for a minute.
func TestVersionsAreRecorded(t *testing.T) {
	backend := &counted{Backend: memory.New()}
	defer backend.Close()
	now := 1000 * time.Second
	old, young := recorder(backend, "v1beta1"), recorder(backend, "v1")
	old.elapsed, young.elapsed = func() time.Duration { return now }, func() time.Duration { return now }
	var writers sync.WaitGroup
	for range 10 {
		writers.Go(func() {
			if err := old.BeforeWrite(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	if got := recorded(t, backend); got != `{"versions":["v1beta1"]}` || backend.puts != 1 {
		t.Errorf("%s after %d writes", got, backend.puts)
	}
	if err := young.BeforeWrite(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := recorded(t, backend); got != `{"versions":["v1","v1beta1"]}` {
		t.Error(got)
	}
	before := backend.gets
	for range 10 {
		if err := young.BeforeWrite(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if backend.gets != before || backend.puts != 2 {
		t.Errorf("%d questions and %d writes more", backend.gets-before, backend.puts-2)
	}
	now += recordTrust
	if err := young.BeforeWrite(t.Context()); err != nil || backend.gets != before+1 || backend.puts != 2 {
		t.Errorf("%v, %d questions, %d writes", err, backend.gets-before, backend.puts)
	}
}

// A record that was lost, with a restore of etcd for example, is written again.
func TestRecordIsWrittenAgain(t *testing.T) {
	backend := memory.New()
	defer backend.Close()
	now := 1000 * time.Second
	v := recorder(backend, "v1")
	v.elapsed = func() time.Duration { return now }
	if err := v.BeforeWrite(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := backend.Delete(t.Context(), recordKey, v.seen); err != nil {
		t.Fatal(err)
	}
	now += recordTrust
	if err := v.BeforeWrite(t.Context()); err != nil || recorded(t, backend) != `{"versions":["v1"]}` {
		t.Error(recorded(t, backend), err)
	}
}

// Nothing is written where the version can't be recorded, and nobody is told that it may have been.
func TestRecordFails(t *testing.T) {
	for _, test := range []struct {
		fail   error
		effect bool
		want   error // nil: it went well in the end
	}{
		{storage.ErrUnavailable, false, storage.ErrUnavailable},
		{storage.ErrNoSpace, false, storage.ErrNoSpace},
		{storage.ErrUnknownOutcome, true, nil},
		{storage.ErrUnknownOutcome, false, nil},
	} {
		backend := &counted{Backend: memory.New(), fail: fmt.Errorf("etcd: %w", test.fail), effect: test.effect}
		v := recorder(backend, "v1")
		err := v.BeforeWrite(t.Context())
		if !errors.Is(err, test.want) || errors.Is(err, storage.ErrUnknownOutcome) {
			t.Errorf("%v: %v", test.fail, err)
		}
		if test.want != nil && !strings.Contains(err.Error(),
			"recording that widgets.shop.example.com are stored in version v1") {
			t.Error(err)
		}
		if err := v.BeforeWrite(t.Context()); err != nil || recorded(t, backend) != `{"versions":["v1"]}` {
			t.Errorf("the next write: %v, recorded %s", err, recorded(t, backend))
		}
		backend.Close()
	}
}

func TestRecordThatIsNone(t *testing.T) {
	backend := memory.New()
	defer backend.Close()
	if _, err := backend.Put(t.Context(), recordKey, []byte("junk"), 0, 0); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{recorder(backend, "v1").Check(t.Context(), []string{"v1"}), recorder(backend,
		"v1").BeforeWrite(t.Context())} {
		if err == nil || !strings.Contains(err.Error(), recordKey+" holds no record of versions") {
			t.Error(err)
		}
	}
}

// A writer that waits for another one's question gives up with its context.
func TestRecordHeedsContexts(t *testing.T) {
	backend := memory.New()
	defer backend.Close()
	v := recorder(backend, "v1")
	<-v.busy
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := v.BeforeWrite(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// always fails every write in one way.
type always struct {
	storage.Backend
	fail error
	puts int
}

func (a *always) Put(context.Context, string, []byte, int64, time.Duration) (int64, error) {
	a.puts++
	return 0, a.fail
}

// A record that can't be written whatever is tried is 503: nothing of the object was sent, and it may be tried again.
func TestRecordGivesUp(t *testing.T) {
	for _, fail := range []error{fmt.Errorf("etcd: %w", storage.ErrUnknownOutcome),
		&storage.ConflictError{Key: recordKey}} {
		backend := &always{Backend: memory.New(), fail: fail}
		err := recorder(backend, "v1").BeforeWrite(t.Context())
		if !errors.Is(err, storage.ErrUnavailable) || errors.Is(err, storage.ErrUnknownOutcome) ||
			backend.puts != recordTries {
			t.Errorf("%v: %v after %d writes", fail, err, backend.puts)
		}
		backend.Close()
	}
}
