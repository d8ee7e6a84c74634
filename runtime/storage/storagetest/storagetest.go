// Package storagetest is the contract of runtime/storage as a suite of tests, which every backend passes: one property,
// one function. It knows storage alone.
//
// The suite never assumes that it has the key space for itself: each property works under a prefix of its own and with
// revisions relative to what it finds, so backends of several properties may share one database.
package storagetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"apigen.dev/runtime/storage"
)

// patience is how long a condition may take to come true before a test gives up.
const patience = 2 * time.Minute

// Run checks every property against backends that open hands out; Run closes them.
func Run(t *testing.T, open func(t *testing.T) storage.Backend) {
	check := func(group string, p property) {
		t.Run(group+"/"+p.name, func(t *testing.T) { p.check(newBench(t, open(t))) })
	}
	for _, group := range []struct {
		name       string
		properties []property
	}{
		{"Write", writes},
		{"Read", reads},
		{"Watch", watches},
		{"Concurrent", concurrents},
		{"Life", lives},
	} {
		for _, p := range group.properties {
			check(group.name, p)
		}
	}
	var waiting sync.WaitGroup // t.Parallel would let only as many wait together as there are processors
	for _, p := range expiries {
		waiting.Go(func() { check("Life", p) })
	}
	waiting.Wait()
}

type property struct {
	name  string
	check func(*bench)
}

// prefixes counts, so that no two properties share keys.
var prefixes atomic.Int64

// bench is the environment of a property: the backend, a prefix of its own, a context that ends with the test's
// patience, and operations that fail the test where the property doesn't expect them to fail.
type bench struct {
	*testing.T
	storage.Backend
	ctx    context.Context
	prefix string
}

func newBench(t *testing.T, backend storage.Backend) *bench {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(func() {
		cancel()
		if err := backend.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	prefix := fmt.Sprintf("/suite-%d-%d/", time.Now().UnixNano(), prefixes.Add(1))
	return &bench{T: t, Backend: backend, ctx: ctx, prefix: prefix}
}

func (b *bench) key(name string) string { return b.prefix + name }

// must ends the test where an operation, which the format describes, has failed.
func (b *bench) must(err error, format string, args ...any) {
	b.Helper()
	if err != nil {
		b.Fatalf("%s: %v", fmt.Sprintf(format, args...), err)
	}
}

func (b *bench) put(name, value string, expect int64) int64 {
	b.Helper()
	return b.putFor(0, name, value, expect)
}

func (b *bench) putFor(ttl time.Duration, name, value string, expect int64) int64 {
	b.Helper()
	revision, err := b.Put(b.ctx, b.key(name), []byte(value), expect, ttl)
	b.must(err, "put %s expecting %d", name, expect)
	return revision
}

func (b *bench) create(names ...string) (last int64) {
	b.Helper()
	for _, name := range names {
		last = b.put(name, "value of "+name, 0)
	}
	return last
}

func (b *bench) remove(name string, expect int64) int64 {
	b.Helper()
	revision, err := b.Delete(b.ctx, b.key(name), expect)
	b.must(err, "delete %s expecting %d", name, expect)
	return revision
}

func (b *bench) get(name string) (*storage.KeyValue, int64) {
	b.Helper()
	kv, revision, err := b.Get(b.ctx, b.key(name), storage.GetOptions{})
	b.must(err, "get %s", name)
	return kv, revision
}

func (b *bench) revision() int64 {
	b.Helper()
	revision, err := b.Revision(b.ctx)
	b.must(err, "revision")
	return revision
}

func (b *bench) rangeOf(req storage.RangeRequest) *storage.RangeResult {
	b.Helper()
	result, err := b.Range(b.ctx, req)
	b.must(err, "range %+v", req)
	return result
}

func (b *bench) compact(revision int64) {
	b.Helper()
	b.must(b.Compact(b.ctx, revision), "compact %d", revision)
}

func (b *bench) watch(after int64) *observer {
	b.Helper()
	return b.watchPrefix(b.prefix, after)
}

func (b *bench) watchPrefix(prefix string, after int64) *observer {
	b.Helper()
	return &observer{bench: b, Stream: b.stream(b.ctx, prefix, after), revision: after}
}

func (b *bench) stream(ctx context.Context, prefix string, after int64) storage.Stream {
	b.Helper()
	stream, err := b.Watch(ctx, prefix, after)
	b.must(err, "watch of %s after %d", prefix, after)
	b.Cleanup(stream.Close)
	return stream
}

type observer struct {
	*bench
	storage.Stream
	revision int64 // no further event may be up to it
}

func (o *observer) next() storage.Batch {
	o.Helper()
	batch, err := o.Stream.Next(o.ctx)
	if err != nil {
		o.Fatalf("next: %v", err)
	}
	o.verify(batch)
	return batch
}

// verify checks a batch: its events are in order, above those of earlier batches, and covered by Revision.
func (o *observer) verify(batch storage.Batch) {
	o.Helper()
	last := o.revision
	for i, event := range batch.Events {
		if event.Revision < last || event.Revision == last && i == 0 {
			o.Fatalf("event %d of a batch is at revision %d, after %d", i, event.Revision, last)
		}
		if event.Revision > batch.Revision {
			o.Fatalf("an event at revision %d in a batch of revision %d", event.Revision, batch.Revision)
		}
		last = event.Revision
	}
	o.revision = max(o.revision, batch.Revision)
}

// events reads until n events have come, and fails if there are more.
func (o *observer) events(n int) []storage.Event {
	o.Helper()
	var events []storage.Event
	for len(events) < n {
		events = append(events, o.next().Events...)
	}
	if len(events) > n {
		o.Fatalf("got %d events, expected %d: %v", len(events), n, brief(events))
	}
	return events
}

func (o *observer) sees(revision int64) {
	o.Helper()
	if event := o.events(1)[0]; event.Revision != revision {
		o.Fatalf("got revision %d, expected %d", event.Revision, revision)
	}
}

func (o *observer) seesUntil(revision int64, n int) {
	o.Helper()
	if events := o.until(revision); len(events) != n {
		o.Errorf("up to revision %d: got %v, expected %d events", revision, brief(events), n)
	}
}

// until requests progress until the stream has come to revision, and returns the events on the way.
func (o *observer) until(revision int64) []storage.Event {
	o.Helper()
	var events []storage.Event
	for {
		batch, err := o.progress()
		if err != nil {
			o.Fatalf("waiting for revision %d: %v", revision, err)
		}
		events = append(events, batch.Events...)
		if batch.Revision >= revision {
			return events
		}
	}
}

// progress requests progress repeatedly until a batch comes.
func (o *observer) progress() (storage.Batch, error) {
	type answer struct {
		batch storage.Batch
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		batch, err := o.Stream.Next(o.ctx)
		answers <- answer{batch, err}
	}()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		if err := o.RequestProgress(o.ctx); err != nil {
			<-answers // Next fails for the same reason
			return storage.Batch{}, err
		}
		select {
		case a := <-answers:
			if a.err == nil {
				o.verify(a.batch)
			}
			return a.batch, a.err
		case <-again.C:
		}
	}
}

func (b *bench) eventually(what string, condition func() bool) {
	b.Helper()
	for !condition() {
		select {
		case <-b.ctx.Done():
			b.Fatalf("%s: still not so", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// conflict checks that err is a ConflictError about the key whose current state is current.
func (b *bench) conflict(err error, name string, expect int64, current *storage.KeyValue) {
	b.Helper()
	var conflict *storage.ConflictError
	if !errors.As(err, &conflict) {
		b.Fatalf("got %v, expected a ConflictError", err)
	}
	if conflict.Key != b.key(name) || conflict.Expected != expect {
		b.Errorf("the conflict is about %s at %d, expected %s at %d", conflict.Key, conflict.Expected, b.key(name),
			expect)
	}
	b.same(conflict.Current, current)
}

func (b *bench) is(err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Errorf("got %v, expected %v", err, want)
	}
}

func (b *bench) compacted(err error) *storage.CompactedError {
	b.Helper()
	var compacted *storage.CompactedError
	if !errors.As(err, &compacted) {
		b.Fatalf("got %v, expected a CompactedError", err)
	}
	return compacted
}

func (b *bench) kv(name, value string, revision int64) *storage.KeyValue {
	return &storage.KeyValue{Key: b.key(name), Value: []byte(value), Revision: revision}
}

func (b *bench) holds(name, value string, revision int64) {
	b.Helper()
	kv, _ := b.get(name)
	b.same(kv, b.kv(name, value, revision))
}

func (b *bench) absent(name string) {
	b.Helper()
	kv, _ := b.get(name)
	b.same(kv, nil)
}

func (b *bench) same(got, want *storage.KeyValue) {
	b.Helper()
	if describe(got) != describe(want) {
		b.Errorf("got %s, expected %s", describe(got), describe(want))
	}
}

func (b *bench) sameKind(i int, got, want *storage.Event) {
	b.Helper()
	if got.Created != want.Created || got.Deleted != want.Deleted {
		b.Errorf("event %d: created %t, deleted %t, expected created %t, deleted %t", i,
			got.Created, got.Deleted, want.Created, want.Deleted)
	}
}

func describe(kv *storage.KeyValue) string {
	if kv == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s=%q@%d", kv.Key, kv.Value, kv.Revision)
}

func brief(events []storage.Event) (lines []string) {
	for i := range events {
		line := describe(&events[i].KeyValue)
		if events[i].Deleted {
			line = "deleted " + line
		}
		lines = append(lines, line)
	}
	return lines
}
