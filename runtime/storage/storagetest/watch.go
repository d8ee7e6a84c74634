package storagetest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"apigen.dev/runtime/storage"
)

var watches = []property{
	{"AfterRevision", func(b *bench) {
		b.put("before", "", 0)
		first := b.put("a", "1", 0)
		second := b.put("a", "2", first)
		third := b.put("b", "3", 0)
		events := b.watch(first).events(2)
		b.same(&events[0].KeyValue, b.kv("a", "2", second))
		b.same(&events[1].KeyValue, b.kv("b", "3", third))
		b.watch(third).seesUntil(b.create("end"), 1)
	}},
	{"FromNow", func(b *bench) {
		first := b.put("a", "1", 0)
		o := b.watch(0)
		o.revision = first
		second := b.put("a", "2", first)
		event := o.events(1)[0]
		b.same(&event.KeyValue, b.kv("a", "2", second))
	}},
	{"FromNowSeesTheNextWrite", func(b *bench) {
		for i := range 20 {
			o := b.watch(0)
			written := b.create(fmt.Sprint(i))
			o.sees(written)
		}
	}},
	{"TellsPrevious", func(b *bench) {
		o := b.watch(b.revision())
		first := b.put("a", "1", 0)
		second := b.put("a", "2", first)
		third := b.remove("a", second)
		fourth := b.put("a", "4", 0)
		events := o.events(4)
		b.sameEvents(events, []storage.Event{
			{Created: true, KeyValue: *b.kv("a", "1", first)},
			{KeyValue: *b.kv("a", "2", second), Previous: b.kv("a", "1", first)},
			{Deleted: true, KeyValue: *b.kv("a", "", third), Previous: b.kv("a", "2", second)},
			{Created: true, KeyValue: *b.kv("a", "4", fourth)},
		}, 0)
		if events[2].Value != nil {
			b.Error("a deletion has a value")
		}
	}},
	// The state before a change at the compacted revision may be gone. Created distinguishes such a change from a
	// creation.
	{"OfCompactedRevisionTellsCreations", func(b *bench) {
		first := b.put("a", "1", 0)
		second := b.put("a", "2", first)
		b.compact(second)
		event := b.watch(second - 1).events(1)[0]
		b.sameKind(0, &event, &storage.Event{})
		b.same(&event.KeyValue, b.kv("a", "2", second))
		if event.Previous != nil {
			b.same(event.Previous, b.kv("a", "1", first))
		}
		third := b.put("b", "1", 0)
		b.compact(third)
		event = b.watch(third - 1).events(1)[0]
		b.sameKind(1, &event, &storage.Event{Created: true})
		b.same(event.Previous, nil)
	}},
	{"KeepsToPrefix", func(b *bench) {
		o := b.watchPrefix(b.key("pods/a/"), b.revision())
		last := b.create("pods", "pods/a", "pods/a/1", "pods/ab/1", "pods/a/2", "pods/a0", "pods/")
		events := o.until(last)
		if len(events) != 2 || events[0].Key != b.key("pods/a/1") || events[1].Key != b.key("pods/a/2") {
			b.Errorf("got %v", brief(events))
		}
	}},
	{"OfHistoryAndLive", func(b *bench) {
		start := b.revision()
		for i := range 100 {
			b.create(fmt.Sprintf("old-%d", i))
		}
		o := b.watch(start)
		for i := range 100 {
			b.create(fmt.Sprintf("new-%d", i))
		}
		for i, event := range o.events(200) {
			name := fmt.Sprintf("old-%d", i)
			if i >= 100 {
				name = fmt.Sprintf("new-%d", i-100)
			}
			if event.Key != b.key(name) {
				b.Fatalf("event %d is of %s, expected %s", i, event.Key, name)
			}
		}
	}},
	// The history has more events than one message of any backend holds.
	{"OfLargeHistory", func(b *bench) {
		start := b.revision()
		value := strings.Repeat("x", 64<<10)
		revision := int64(0)
		for range 100 {
			revision = b.put("a", value, revision)
		}
		events := b.watch(start).events(100)
		if last := events[99]; last.Revision != revision || string(last.Value) != value ||
			string(last.Previous.Value) != value {
			b.Errorf("the last event is at revision %d, expected %d", last.Revision, revision)
		}
	}},
	{"BatchesAdvance", func(b *bench) {
		o := b.watch(b.revision())
		last, covered := int64(0), int64(0)
		for i := range 20 {
			last = b.create(fmt.Sprint(i))
		}
		for covered < last {
			batch := o.next() // which checks that events are covered by the batch's revision
			if batch.Revision <= covered {
				b.Fatalf("a batch of revision %d after one of %d", batch.Revision, covered)
			}
			covered = batch.Revision
		}
	}},
	{"OfCompactedFails", func(b *bench) {
		first := b.put("a", "1", 0)
		second := b.put("a", "2", first)
		third := b.put("a", "3", second)
		b.compact(third)
		stream, err := b.Watch(b.ctx, b.prefix, first)
		if err == nil {
			defer stream.Close()
			err = toTheEnd(b.ctx, stream)
		}
		if compacted := b.compacted(err); compacted.Revision != third {
			b.Errorf("the oldest revision is said to be %d, expected %d", compacted.Revision, third)
		}
		if stream != nil {
			if _, err := stream.Next(b.ctx); err == nil {
				b.Error("Next succeeds after the stream failed")
			}
		}
		last := b.put("a", "4", third)
		b.watch(third).sees(last)
	}},
	{"OutlivesCompaction", func(b *bench) {
		o := b.watch(0)
		revision := int64(0)
		for range 10 {
			revision = b.put("a", "", revision)
		}
		o.until(revision)
		b.compact(revision)
		revision = b.put("a", "", revision)
		o.sees(revision)
	}},
	{"Progress", func(b *bench) {
		o := b.watchPrefix(b.key("watched/"), b.revision())
		for i := range 5 {
			elsewhere := b.create(fmt.Sprintf("elsewhere/%d", i))
			o.seesUntil(elsewhere, 0)
		}
		here := b.create("watched/a")
		o.sees(here)
	}},
	{"ProgressFromTheStart", func(b *bench) {
		last := b.create("a", "b")
		b.watch(0).seesUntil(last, 0)
		b.watch(last-1).seesUntil(last, 1)
		b.watch(last).seesUntil(last, 0)
	}},
	// The property requests progress all the time while a stream catches up and other goroutines
	// write. The observer fails where an event comes after a batch that claims to cover it.
	{"ProgressNeverOvertakesEvents", func(b *bench) {
		start := b.revision()
		revision := int64(0)
		for range 200 {
			revision = b.put("a", strings.Repeat("x", 4096), revision)
		}
		done := make(chan int64)
		go func() {
			last := revision
			defer func() { done <- last }()
			for range 200 {
				var err error
				if last, err = b.Put(b.ctx, b.key("a"), []byte("y"), last, 0); err != nil {
					b.Errorf("put: %v", err)
					return
				}
			}
		}()
		o := b.watch(start)
		events := 0
		for events < 400 {
			batch, err := o.progress()
			if err != nil {
				b.Errorf("after %d events: %v", events, err)
				break
			}
			events += len(batch.Events)
		}
		if last := <-done; !b.Failed() && o.revision < last {
			b.Errorf("came to revision %d, expected %d", o.revision, last)
		}
	}},
	{"OfTheFuture", func(b *bench) {
		future := b.revision() + 5
		o := b.watch(future)
		var revision int64
		for i := 0; revision <= future; i++ {
			revision = b.create(fmt.Sprint(i))
		}
		o.sees(future + 1)
	}},
	// No event comes after the largest revision, and waiting for one is not an error.
	{"OfTheEndOfTime", func(b *bench) {
		ctx, cancel := context.WithCancel(b.ctx)
		defer cancel()
		ended := b.next(b.ctx, b.stream(ctx, b.prefix, math.MaxInt64))
		other := b.watch(b.revision())
		b.create("a")
		other.events(1)
		select {
		case err := <-ended:
			b.Error(err)
		default:
			cancel()
			b.is(<-ended, context.Canceled)
		}
	}},
	{"OfNegativeRevisionFails", func(b *bench) {
		if stream, err := b.Watch(b.ctx, b.prefix, -1); err == nil {
			stream.Close()
			b.Error("expected an error")
		}
	}},
	{"EndsWithItsContext", func(b *bench) {
		ctx, cancel := context.WithCancel(b.ctx)
		stream := b.stream(ctx, b.prefix, 0)
		ended := b.next(b.ctx, stream)
		cancel()
		b.is(b.wait("the watch's context was cancelled", ended), context.Canceled)
		if _, err := stream.Next(b.ctx); err == nil {
			b.Error("Next succeeds after the stream ended")
		}
	}},
	{"NextEndsWithContext", func(b *bench) {
		ctx, cancel := context.WithTimeout(b.ctx, time.Millisecond)
		defer cancel()
		ended := b.next(ctx, b.stream(b.ctx, b.prefix, 0))
		b.is(b.wait("Next's context timed out", ended), context.DeadlineExceeded)
	}},
	{"EndsWithClose", func(b *bench) {
		stream := b.stream(b.ctx, b.prefix, 0)
		ended := b.next(b.ctx, stream)
		stream.Close()
		stream.Close() // which is harmless
		if err := b.wait("the stream was closed", ended); err == nil {
			b.Error("Next succeeds after Close")
		}
		if err := stream.RequestProgress(b.ctx); err == nil {
			b.Error("RequestProgress succeeds after Close")
		}
	}},
	{"ManyWatchers", func(b *bench) {
		const watchers, events = 100, 20
		start := b.revision()
		failed := make(chan error, watchers)
		for range watchers {
			stream := b.stream(b.ctx, b.prefix, start)
			go func() { failed <- follow(b.ctx, stream, start, events) }()
		}
		for i := range events {
			b.create(fmt.Sprint(i))
		}
		for range watchers {
			if err := <-failed; err != nil {
				b.Error(err)
			}
		}
	}},
}

// toTheEnd reads a stream without events until it fails. Batches without events may come at any time.
func toTheEnd(ctx context.Context, stream storage.Stream) error {
	for {
		batch, err := stream.Next(ctx)
		if err != nil {
			return err
		}
		if len(batch.Events) > 0 {
			return fmt.Errorf("unexpected events: %v", brief(batch.Events))
		}
	}
}

func (b *bench) next(ctx context.Context, stream storage.Stream) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- toTheEnd(ctx, stream) }()
	return ended
}

func (b *bench) wait(what string, ended <-chan error) error {
	b.Helper()
	select {
	case err := <-ended:
		return err
	case <-b.ctx.Done():
		b.Fatalf("%s: Next still waits", what)
		return nil
	}
}

// follow reads n events and checks that each revision comes once and in order.
func follow(ctx context.Context, stream storage.Stream, after int64, n int) error {
	for n > 0 {
		batch, err := stream.Next(ctx)
		if err != nil {
			return fmt.Errorf("%d events are missing: %w", n, err)
		}
		for _, event := range batch.Events {
			if event.Revision <= after {
				return fmt.Errorf("revision %d after %d", event.Revision, after)
			}
			after = event.Revision
		}
		n -= len(batch.Events)
	}
	return nil
}
