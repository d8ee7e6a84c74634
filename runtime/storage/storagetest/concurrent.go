package storagetest

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"

	"apigen.dev/runtime/storage"
)

var concurrents = []property{
	{"OneCreateWins", func(b *bench) {
		var wins sync.Map
		together(8, func(i int) {
			revision, err := b.Put(b.ctx, b.key("a"), []byte(fmt.Sprint(i)), 0, 0)
			var conflict *storage.ConflictError
			switch {
			case err == nil:
				wins.Store(i, revision)
			case !errors.As(err, &conflict) || conflict.Current == nil:
				b.Errorf("writer %d: %v", i, err)
			}
		})
		kv, _ := b.get("a")
		count := 0
		wins.Range(func(i, revision any) bool {
			count++
			b.same(kv, b.kv("a", fmt.Sprint(i), revision.(int64)))
			return true
		})
		if count != 1 {
			b.Errorf("%d creates won", count)
		}
	}},
	{"CounterLosesNothing", func(b *bench) {
		const writers, each = 4, 25
		o := b.watch(b.revision())
		together(writers, func(int) {
			for range each {
				if _, err := b.increment("n"); err != nil {
					b.Error(err)
					return
				}
			}
		})
		kv, _ := b.get("n")
		if kv == nil || string(kv.Value) != strconv.Itoa(writers*each) {
			b.Fatalf("got %s, expected %d", describe(kv), writers*each)
		}
		for i, event := range o.events(writers * each) {
			if string(event.Value) != strconv.Itoa(i+1) {
				b.Fatalf("event %d: %s", i, describe(&event.KeyValue))
			}
		}
	}},
	{"WatchSeesEveryWriteOnce", func(b *bench) {
		const writers, each = 8, 40
		o := b.watch(b.revision())
		var mu sync.Mutex
		written := map[int64]string{}
		go together(writers, func(i int) {
			for j := range each {
				key := b.key(fmt.Sprintf("%d/%d", i, j))
				revision, err := b.Put(b.ctx, key, nil, 0, 0)
				if err != nil {
					b.Errorf("put: %v", err)
					return
				}
				mu.Lock()
				written[revision] = key
				mu.Unlock()
			}
		})
		seen := map[int64]string{}
		for _, event := range o.events(writers * each) { // in order: observer checks it
			seen[event.Revision] = event.Key
		}
		b.eventually("all writers have their answer", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(written) == writers*each
		})
		if !maps.Equal(seen, written) {
			b.Error("what was seen is not what was written")
		}
	}},
	{"ReadsNeverGoBack", func(b *bench) {
		b.put("n", "0", 0)
		stop := make(chan struct{})
		var readers sync.WaitGroup
		for range 3 {
			readers.Go(func() { b.readUntil(stop) })
		}
		for range 50 {
			written, err := b.increment("n")
			if err != nil {
				b.Error(err)
				break
			}
			if now := b.revision(); now < written {
				b.Errorf("the backend is at revision %d after a write at %d", now, written)
			}
		}
		close(stop)
		readers.Wait()
	}},
	{"RandomOperationsAgreeWithModel", randomOperationsAgreeWithModel},
}

func together(n int, run func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { run(i) })
	}
	all.Wait()
}

// increment adds one to the number that a key holds, in a loop over conflicts.
func (b *bench) increment(name string) (int64, error) {
	kv, _, err := b.Get(b.ctx, b.key(name), storage.GetOptions{})
	if err != nil {
		return 0, err
	}
	for {
		value, expect := 0, int64(0)
		if kv != nil {
			expect = kv.Revision
			if value, err = strconv.Atoi(string(kv.Value)); err != nil {
				return 0, err
			}
		}
		revision, err := b.Put(b.ctx, b.key(name), []byte(strconv.Itoa(value+1)), expect, 0)
		var conflict *storage.ConflictError
		if !errors.As(err, &conflict) {
			return revision, err
		}
		kv = conflict.Current
	}
}

func (b *bench) readUntil(stop <-chan struct{}) {
	var last, of int64
	for {
		select {
		case <-stop:
			return
		default:
		}
		kv, revision, err := b.Get(b.ctx, b.key("n"), storage.GetOptions{RevisionOnly: true})
		if err != nil || kv == nil {
			b.Errorf("get: %s, %v", describe(kv), err)
			return
		}
		result, err := b.Range(b.ctx, storage.RangeRequest{Prefix: b.prefix})
		if err != nil {
			b.Errorf("range: %v", err)
			return
		}
		if revision < last || kv.Revision < of || result.Revision < revision || result.Items[0].Revision < kv.Revision {
			b.Errorf("a read went back: at %d and %d after %d; of %d and %d after %d", revision, result.Revision, last,
				kv.Revision, result.Items[0].Revision, of)
			return
		}
		last, of = result.Revision, result.Items[0].Revision
	}
}
