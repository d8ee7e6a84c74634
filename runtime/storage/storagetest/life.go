package storagetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"apigen.dev/runtime/storage"
)

// expiries wait until a key's TTL is over, which takes etcd more than two seconds. They do so side by side.
var expiries = []property{
	{"TTL", func(b *bench) {
		o := b.watch(b.revision())
		began := time.Now()
		written := b.putFor(time.Second, "a", "1", 0)
		events := o.events(2)
		if lived := time.Since(began); lived < 900*time.Millisecond {
			b.Errorf("the key lived for %s, expected a second or more", lived)
		}
		if !events[1].Deleted || events[1].Revision <= written {
			b.Errorf("got %v, expected a deletion", brief(events))
		}
		b.same(events[1].Previous, b.kv("a", "1", written))
		b.absent("a")
	}},
	// A write without TTL keeps the key for ever, also after a write with a TTL.
	{"TTLEndsWithTheNextWrite", outlives(0)},
	// A write may keep the remaining time of a key, which may be for ever.
	{"KeptTTL", func(b *bench) {
		o := b.watch(b.revision())
		first := b.putFor(storage.KeepTTL, "b", "1", 0)
		eternal := b.putFor(storage.KeepTTL, "b", "2", first)
		began := time.Now()
		last := b.overwrite("a", storage.KeepTTL)
		o.expire(b.key("a"), last, b.key("b"), eternal)
		if lived := time.Since(began); lived < 900*time.Millisecond {
			b.Errorf("the key lived for %s, expected a second or more", lived)
		}
		b.holds("b", "2", eternal)
		_, err := b.Put(b.ctx, b.key("b"), []byte("3"), first, storage.KeepTTL)
		b.conflict(err, "b", first, b.kv("b", "2", eternal))
	}},
	// The last write's TTL counts.
	{"ExtendedTTL", outlives(time.Hour)},
}

var lives = []property{
	{"DoneContextFails", func(b *bench) {
		ctx, cancel := context.WithCancel(b.ctx)
		cancel()
		b.allFail(ctx, context.Canceled)
		b.absent("a")
	}},
	{"ClosedFails", func(b *bench) {
		b.must(b.Close(), "close")
		b.allFail(b.ctx, storage.ErrClosed)
		b.must(b.Close(), "close again")
	}},
	{"CloseEndsWatches", func(b *bench) {
		ended := b.next(b.ctx, b.stream(b.ctx, b.prefix, 0))
		b.must(b.Close(), "close")
		b.is(b.wait("the backend was closed", ended), storage.ErrClosed)
	}},
	// Close ends the goroutines of the backend, and those of its client.
	{"CloseLeavesNoGoroutines", func(b *bench) {
		b.create("a")
		for i := range 5 {
			o := b.watch(0)
			o.until(b.create(fmt.Sprint("a", i)))
			if i%2 == 0 {
				o.Stream.Close()
			}
		}
		b.must(b.Close(), "close")
		var left string
		defer func() {
			if left != "" {
				b.Log(left)
			}
		}()
		b.eventually("no goroutines are left", func() bool {
			left = goroutinesOf("go.etcd.io/etcd/", "apigen.dev/runtime/storage/memory.",
				"apigen.dev/runtime/storage/etcd.")
			return left == ""
		})
	}},
}

// overwrite writes a key for a second and, before that is over, again with the TTL, and returns that revision.
func (b *bench) overwrite(name string, ttl time.Duration) int64 {
	b.Helper()
	for { // once more where the second was over before the next write
		written := b.putFor(time.Second, name, "1", 0)
		last, err := b.Put(b.ctx, b.key(name), []byte("2"), written, ttl)
		if err == nil {
			return last
		}
		var late *storage.ConflictError
		if !errors.As(err, &late) || late.Current != nil {
			b.Fatal(err)
		}
	}
}

// expire waits until storage has deleted a key, after whose revision no event may be of the key that must stay.
func (o *observer) expire(key string, written int64, stays string, last int64) {
	o.Helper()
	for gone := false; !gone; {
		for _, e := range o.next().Events {
			gone = gone || e.Deleted && e.Key == key && e.Revision > written
			if e.Revision > last && e.Key == stays {
				o.Errorf("after its last write came %v", brief([]storage.Event{e}))
			}
		}
	}
}

// outlives returns a property: a key whose last write has this TTL outlives the shorter TTL of the write before.
func outlives(ttl time.Duration) func(*bench) {
	return func(b *bench) {
		o := b.watch(b.revision())
		last := b.overwrite("kept", ttl)
		written := b.putFor(time.Second, "gone", "", 0)
		o.expire(b.key("gone"), written, b.key("kept"), last)
		b.holds("kept", "2", last)
	}
}

// allFail checks the error of every call of a backend that takes a context.
func (b *bench) allFail(ctx context.Context, want error) {
	b.Helper()
	errs := map[string]error{}
	_, errs["Put"] = b.Put(ctx, b.key("a"), nil, 0, 0)
	_, errs["Delete"] = b.Delete(ctx, b.key("a"), 1)
	_, _, errs["Get"] = b.Get(ctx, b.key("a"), storage.GetOptions{})
	_, errs["Range"] = b.Range(ctx, storage.RangeRequest{Prefix: b.prefix})
	_, errs["Count"] = b.Count(ctx, b.prefix)
	_, errs["Revision"] = b.Revision(ctx)
	errs["Compact"] = b.Compact(ctx, 1)
	stream, err := b.Watch(ctx, b.prefix, 0)
	if err == nil {
		defer stream.Close()
		err = toTheEnd(ctx, stream)
	}
	errs["Watch"] = err
	for name, err := range errs {
		if !errors.Is(err, want) {
			b.Errorf("%s: got %v, expected %v", name, err, want)
		}
	}
}

// goroutinesOf returns the stack of a goroutine that runs code of one of the packages, or "".
func goroutinesOf(packages ...string) string {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		for _, name := range packages {
			if strings.Contains(stack, "\n"+name) {
				return stack
			}
		}
	}
	return ""
}
