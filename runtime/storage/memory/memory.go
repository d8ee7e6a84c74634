// Package memory is a backend that holds its key space in memory: for tests and for the test harness. It keeps the
// whole history until it is compacted, and nothing once the process ends.
//
// It knows storage and the tree alone. Every revision is a record with an immutable tree of the keys and a link to the
// next record: readers take a tree and no lock, a write copies O(log n) nodes, and a watcher is a place in the list of
// records.
package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"apigen.dev/runtime/internal/btree"
	"apigen.dev/runtime/storage"
)

// maxBytes bounds the size of key and value together, as etcd's default does.
const maxBytes = 3 << 19

// New returns an empty backend. Its first revision is 1, as etcd's is.
func New() storage.Backend {
	return &backend{
		history: newHistory(), closed: make(chan struct{}), tree: btree.Edit(nil, byKey, btree.Hooks[struct{}]{}),
		timers: map[string]timer{},
	}
}

type backend struct {
	history *history
	closed  chan struct{}

	mu       sync.Mutex       // writers hold it; taken before history.mu
	tree     tree             // its frozen state is that of the history's tail
	timers   map[string]timer // of keys with a TTL
	expiring sync.WaitGroup   // timers that may still run
}

type timer struct {
	*time.Timer
	end time.Time
}

func (b *backend) Get(ctx context.Context, key string, opts storage.GetOptions) (*storage.KeyValue, int64, error) {
	if err := b.usable(ctx); err != nil {
		return nil, 0, err
	}
	now := b.history.tail.Load()
	kv, _ := now.root.Get(key)
	if kv != nil && opts.RevisionOnly {
		kv = &storage.KeyValue{Key: kv.Key, Revision: kv.Revision}
	}
	return kv, now.revision, nil
}

func (b *backend) Range(ctx context.Context, req storage.RangeRequest) (*storage.RangeResult, error) {
	if err := b.usable(ctx); err != nil {
		return nil, err
	}
	if err := req.Validate(); err != nil {
		return nil, err
	}
	state := b.history.tail.Load()
	if req.Revision > 0 {
		var err error
		if state, err = b.history.at(req.Revision); err != nil {
			return nil, err
		}
	}
	from := max(req.Prefix, req.From)
	total := countBetween(state.root, from, storage.PrefixEnd(req.Prefix))
	wanted := total
	if req.Limit > 0 {
		wanted = min(wanted, req.Limit)
	}
	result := &storage.RangeResult{Revision: state.revision, Remaining: total - wanted, More: wanted < total}
	if wanted == 0 {
		return result, nil
	}
	result.Items = make([]storage.KeyValue, 0, wanted)
	state.root.Leaves(from, "", func(leaf *node, first, last int) bool {
		for _, kv := range leaf.Values()[first:min(last, first+int(wanted)-len(result.Items))] {
			result.Items = append(result.Items, *kv)
		}
		return int64(len(result.Items)) < wanted
	})
	return result, nil
}

func (b *backend) Count(ctx context.Context, prefix string) (int64, error) {
	if err := b.usable(ctx); err != nil {
		return 0, err
	}
	return countBetween(b.history.tail.Load().root, prefix, storage.PrefixEnd(prefix)), nil
}

func (b *backend) Revision(ctx context.Context) (int64, error) {
	if err := b.usable(ctx); err != nil {
		return 0, err
	}
	return b.history.tail.Load().revision, nil
}

func (b *backend) Put(ctx context.Context, key string, value []byte, expect int64, ttl time.Duration) (int64, error) {
	if err := b.usable(ctx); err != nil {
		return 0, err
	}
	if key == "" {
		return 0, errors.New("a key must not be empty")
	}
	if size := len(key) + len(value); size > maxBytes {
		return 0, fmt.Errorf("%s: %d bytes, at most %d: %w", key, size, maxBytes, storage.ErrTooLarge)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.usable(ctx); err != nil { // Close may have come while we waited
		return 0, err
	}
	now := b.history.tail.Load()
	current, err := expected(now, key, expect)
	if err != nil {
		return 0, err
	}
	kv := &storage.KeyValue{Key: key, Value: value, Revision: now.revision + 1}
	if running, limited := b.timers[key]; ttl == storage.KeepTTL && limited {
		ttl = max(time.Until(running.end), 1)
	}
	b.stopTimer(key)
	if ttl > 0 {
		b.startTimer(kv, ttl)
	}
	event := storage.Event{Created: current == nil, KeyValue: *kv, Previous: current}
	b.tree.Set(kv)
	b.history.publish(newRecord(kv.Revision, event, b.tree.Freeze()))
	return kv.Revision, nil
}

func (b *backend) Delete(ctx context.Context, key string, expect int64) (int64, error) {
	if err := b.usable(ctx); err != nil {
		return 0, err
	}
	if expect <= 0 {
		return 0, fmt.Errorf("%s: a deletion needs the revision that it expects, got %d", key, expect)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.usable(ctx); err != nil {
		return 0, err
	}
	return b.remove(key, expect)
}

// remove deletes key at revision expect; the caller holds mu.
func (b *backend) remove(key string, expect int64) (int64, error) {
	now := b.history.tail.Load()
	current, err := expected(now, key, expect)
	if err != nil {
		return 0, err
	}
	b.stopTimer(key)
	revision := now.revision + 1
	event := storage.Event{Deleted: true, KeyValue: storage.KeyValue{Key: key, Revision: revision}, Previous: current}
	b.tree.Remove(key)
	b.history.publish(newRecord(revision, event, b.tree.Freeze()))
	return revision, nil
}

func (b *backend) Compact(ctx context.Context, revision int64) error {
	if err := b.usable(ctx); err != nil {
		return err
	}
	return b.history.compact(revision)
}

// Close may be called more than once.
func (b *backend) Close() error {
	b.mu.Lock()
	select {
	case <-b.closed:
	default:
		close(b.closed)
		for key := range b.timers {
			b.stopTimer(key)
		}
	}
	b.mu.Unlock()
	b.expiring.Wait()
	return nil
}

// startTimer starts the timer of a key. The caller holds mu, as for stopTimer.
func (b *backend) startTimer(kv *storage.KeyValue, ttl time.Duration) {
	b.expiring.Add(1)
	b.timers[kv.Key] = timer{end: time.Now().Add(ttl), Timer: time.AfterFunc(ttl, func() {
		defer b.expiring.Done()
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.usable(context.Background()) == nil {
			// A conflict means that the key was written while the timer waited for the lock.
			_, _ = b.remove(kv.Key, kv.Revision)
		}
	})}
}

func (b *backend) stopTimer(key string) {
	timer, ok := b.timers[key]
	if !ok {
		return
	}
	delete(b.timers, key)
	if timer.Stop() {
		b.expiring.Done()
	}
}

func (b *backend) usable(ctx context.Context) error {
	select {
	case <-b.closed:
		return storage.ErrClosed
	default:
		return ctx.Err()
	}
}

// expected returns the state of key if its revision is expect (0: absent), else a ConflictError.
func expected(now *record, key string, expect int64) (*storage.KeyValue, error) {
	current, _ := now.root.Get(key)
	found := int64(0)
	if current != nil {
		found = current.Revision
	}
	if found != expect {
		return nil, &storage.ConflictError{Key: key, Expected: expect, Current: current}
	}
	return current, nil
}

// countBetween counts the keys from the first (inclusive) to the end (exclusive; "" is none).
func countBetween(root *node, from, end string) int64 {
	above := root.Len()
	if end != "" {
		above = root.Rank(end)
	}
	return int64(above - root.Rank(from))
}

// tree holds the newest value of each key, and node is a state of it. Leaves carry nothing.
type (
	tree = btree.Tree[string, *storage.KeyValue, struct{}]
	node = btree.Node[string, *storage.KeyValue, struct{}]
)

var byKey = &btree.Order[string, *storage.KeyValue]{
	Key:         func(kv *storage.KeyValue) string { return kv.Key },
	Compare:     func(kv *storage.KeyValue, key string) int { return strings.Compare(kv.Key, key) },
	CompareKeys: strings.Compare,
}
