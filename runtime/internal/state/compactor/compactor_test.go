package compactor_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/internal/etcdtest"
	"apigen.dev/runtime/internal/state/compactor"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/etcd"
	"apigen.dev/runtime/storage/memory"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// onBoth runs a test on a backend in memory and on a real etcd.
func onBoth(t *testing.T, test func(t *testing.T, b storage.Backend)) {
	t.Run("memory", func(t *testing.T) {
		b := memory.New()
		defer b.Close()
		test(t, b)
	})
	t.Run("etcd", func(t *testing.T) {
		b, err := etcd.New(t.Context(), etcd.Config{Endpoints: []string{etcdtest.Start(t).Endpoint()},
			DialTimeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		test(t, b)
	})
}

// grow writes n keys and returns the revision.
func grow(t *testing.T, b storage.Backend, n int) (revision int64) {
	t.Helper()
	for range n {
		_, now, err := b.Get(t.Context(), "/x", storage.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if revision, err = b.Put(t.Context(), fmt.Sprintf("/x%d", now), []byte("x"), 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	return revision
}

func step(t *testing.T, c *compactor.Compactor) int64 {
	t.Helper()
	revision, err := c.Step(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

// readable reports whether the backend still has the history at a revision.
func readable(t *testing.T, b storage.Backend, revision int64) bool {
	t.Helper()
	_, err := b.Range(t.Context(), storage.RangeRequest{Prefix: "/x", Revision: revision})
	var compacted *storage.CompactedError
	if err != nil && !errors.As(err, &compacted) {
		t.Fatal(err)
	}
	return err == nil
}

// Two servers: one compacts at each interval, to where the backend was an interval ago; when it is gone, the other one
// goes on an interval later.
func TestOneOfMany(t *testing.T) {
	onBoth(t, func(t *testing.T, b storage.Backend) {
		first, second := &compactor.Compactor{Backend: b}, &compactor.Compactor{Backend: b}
		grow(t, b, 3)
		if got := step(t, first) + step(t, second); got != 0 {
			t.Fatalf("the first steps compacted to %d", got)
		}
		for range 3 {
			_, before, err := b.Get(t.Context(), compactor.Key, storage.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			after := grow(t, b, 5)
			// the second one's look at the clock writes nothing
			if got := step(t, first); got > before || got < before-1 {
				t.Fatalf("the first compacted to %d, the backend was at %d an interval ago", got, before)
			}
			if got := step(t, second); got != 0 {
				t.Fatalf("the second compacted, too, to %d", got)
			}
			if !readable(t, b, after) || readable(t, b, before-2) {
				t.Fatalf("after the compaction, %d must be readable and %d not", after, before-2)
			}
		}
		grow(t, b, 5)
		if got := step(t, second); got == 0 {
			t.Fatal("nobody compacted after the first was gone")
		}
		if got := step(t, first); got != 0 {
			t.Fatalf("the first came back and compacted to %d", got)
		}
	})
}

// peer is the protocol as k8s.io/apiserver speaks it: the clock is the key's version.
type peer struct {
	client        *clientv3.Client
	version, seen int64
}

func (p *peer) step(t *testing.T) (compacted int64) {
	t.Helper()
	answer, err := p.client.Txn(t.Context()).If(clientv3.Compare(clientv3.Version(compactor.Key), "=", p.version)).
		Then(clientv3.OpPut(compactor.Key, strconv.FormatInt(p.seen, 10))).Else(clientv3.OpGet(compactor.Key)).Commit()
	if err != nil {
		t.Fatal(err)
	}
	compacted, p.seen = p.seen, answer.Header.Revision
	if !answer.Succeeded {
		kv := answer.Responses[0].GetResponseRange().Kvs[0]
		if _, err := strconv.ParseInt(string(kv.Value), 10, 64); err != nil {
			t.Fatalf("the peer can't read what stands in the key: %v", err)
		}
		p.version = kv.Version
		return 0
	}
	p.version++
	if compacted != 0 {
		if _, err := p.client.Compact(t.Context(), compacted); err != nil {
			t.Fatal(err)
		}
	}
	return compacted
}

// Ours and a server built on k8s.io/apiserver: in each interval one of them compacts, whoever comes first, and each
// takes over from the other.
func TestBesideAPIServer(t *testing.T) {
	endpoint := etcdtest.Start(t).Endpoint()
	b, err := etcd.New(t.Context(), etcd.Config{Endpoints: []string{endpoint}, DialTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ours, theirs := &compactor.Compactor{Backend: b}, &peer{client: client}
	step(t, ours)
	theirs.step(t)
	for _, round := range []struct {
		name        string
		ours        []bool // who steps, in order
		ourCompacts int
		compacts    int
	}{
		{"ours first", []bool{true, false}, 1, 1},
		{"ours again", []bool{true, false}, 1, 1},
		{"ours is gone", []bool{false}, 0, 1},
		{"ours is back", []bool{true, false}, 0, 1},
		{"theirs is gone", []bool{true}, 0, 0}, // it had come before ours looked
		{"theirs is still gone", []bool{true}, 1, 1},
		{"theirs is back", []bool{false, true}, 1, 1},
	} {
		grow(t, b, 4)
		our, all := 0, 0
		for _, turn := range round.ours {
			if turn && step(t, ours) != 0 {
				our, all = our+1, all+1
			} else if !turn && theirs.step(t) != 0 {
				all++
			}
		}
		if our != round.ourCompacts || all != round.compacts {
			t.Errorf("%s: %d compactions, %d of them ours; want %d and %d", round.name, all, our, round.compacts,
				round.ourCompacts)
		}
	}
}

// failing fails the operations that a test sets.
type failing struct {
	storage.Backend
	put, compact error
}

func (f *failing) Put(ctx context.Context, key string, value []byte, expect int64, ttl time.Duration) (int64, error) {
	revision, err := f.Backend.Put(ctx, key, value, expect, ttl)
	if f.put != nil {
		return 0, f.put
	}
	return revision, err
}

func (f *failing) Compact(ctx context.Context, revision int64) error {
	if f.compact != nil {
		return f.compact
	}
	return f.Backend.Compact(ctx, revision)
}

// TestFailuresPass: a failure costs one interval. The compactor finds out that a write of unknown outcome has happened,
// and the next compaction makes up for a failed one.
func TestFailuresPass(t *testing.T) {
	inner := memory.New()
	defer inner.Close()
	b := &failing{Backend: inner}
	c := &compactor.Compactor{Backend: b}
	grow(t, inner, 3)
	step(t, c)
	last := grow(t, inner, 3)

	b.put = storage.ErrUnknownOutcome
	if _, err := c.Step(t.Context()); !errors.Is(err, storage.ErrUnknownOutcome) {
		t.Fatalf("error %v", err)
	}
	b.put = nil
	if got := step(t, c); got != 0 {
		t.Fatalf("it compacted to %d on a clock that it did not know", got)
	}
	b.compact = storage.ErrUnavailable
	if _, err := c.Step(t.Context()); !errors.Is(err, storage.ErrUnavailable) {
		t.Fatalf("error %v", err)
	}
	b.compact = nil
	if got := step(t, c); got < last {
		t.Fatalf("it compacted to %d, want %d at least", got, last)
	}
}

// With no space left the clock can't be advanced. What makes space goes on.
func TestNoSpace(t *testing.T) {
	inner := memory.New()
	defer inner.Close()
	c := &compactor.Compactor{Backend: &full{inner}}
	first := grow(t, inner, 3)
	if got := step(t, c); got != 0 {
		t.Fatalf("the first step compacted to %d", got)
	}
	grow(t, inner, 3)
	if got := step(t, c); got != first {
		t.Fatalf("it compacted to %d, want %d", got, first)
	}
}

// full is a backend that takes no writes.
type full struct{ storage.Backend }

func (f *full) Put(context.Context, string, []byte, int64, time.Duration) (int64, error) {
	return 0, storage.ErrNoSpace
}

// After a restore from an older snapshot the revision that was noted lies in the future, and the clock may be gone.
func TestRolledBack(t *testing.T) {
	ahead, behind := memory.New(), memory.New()
	defer ahead.Close()
	defer behind.Close()
	c := &compactor.Compactor{Backend: ahead}
	grow(t, ahead, 20)
	step(t, c)
	step(t, c)
	last := grow(t, behind, 2)
	c.Backend = behind
	if got := step(t, c); got != 0 {
		t.Fatalf("it compacted to %d, which is not of this history", got)
	}
	grow(t, behind, 3)
	if got := step(t, c); got != last {
		t.Fatalf("it compacted to %d, want what it found after the restore, %d", got, last)
	}
}

// Run takes a step at each tick of its clock, and ends with its context.
func TestRun(t *testing.T) {
	b := memory.New()
	defer b.Close()
	ticks := make(chan time.Time)
	c := &compactor.Compactor{Backend: b, Interval: 5 * time.Minute, After: func(d time.Duration) <-chan time.Time {
		if d != 5*time.Minute {
			t.Errorf("it waits for %s", d)
		}
		return ticks
	}}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { c.Run(ctx) })
	grow(t, b, 3)
	ticks <- time.Time{}
	ticks <- time.Time{} // the first step is over
	ticks <- time.Time{}
	cancel()
	running.Wait()
	if readable(t, b, 1) {
		t.Error("nothing was compacted")
	}
}
