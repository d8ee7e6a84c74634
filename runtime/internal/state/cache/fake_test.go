package cache

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"apigen.dev/runtime/storage"
)

// fake is a backend that keeps all of its history, and that a test can stall, break, compact and roll back. What the
// interface doesn't need here it doesn't have.
type fake struct {
	storage.Backend

	mu        sync.Mutex
	revision  int64
	compacted int64
	history   []storage.Event
	changed   chan struct{}
	stalled   bool // streams deliver nothing
	deaf      bool // requests for progress are lost
	down      bool // everything fails
	epoch     int  // streams of another epoch are at their end
	asked     int  // calls of Revision
	requests  int  // for progress
	coalesce  bool // a batch is all that is there
	onRange   func(page int)
	pages     int
}

func newFake() *fake { return &fake{revision: 1, changed: make(chan struct{})} }

// change runs do under the lock and wakes the streams.
func (f *fake) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.changed)
	f.changed = make(chan struct{})
}

// stateAt is the keys of a revision; f.mu is held.
func (f *fake) stateAt(revision int64) map[string]storage.KeyValue {
	state := map[string]storage.KeyValue{}
	for _, e := range f.history {
		if e.Revision > revision {
			break
		}
		if e.Deleted {
			delete(state, e.Key)
		} else {
			state[e.Key] = e.KeyValue
		}
	}
	return state
}

// put writes keys, all at one revision.
func (f *fake) put(value string, keys ...string) (revision int64) {
	f.change(func() {
		f.revision++
		revision = f.revision
		for _, key := range keys {
			f.history = append(f.history, storage.Event{KeyValue: storage.KeyValue{Key: key, Value: []byte(value),
				Revision: revision}})
		}
	})
	return revision
}

func (f *fake) remove(key string) (revision int64) {
	f.change(func() {
		f.revision++
		revision = f.revision
		f.history = append(f.history, storage.Event{Deleted: true,
			KeyValue: storage.KeyValue{Key: key, Revision: revision}})
	})
	return revision
}

func (f *fake) compact(revision int64) { f.change(func() { f.compacted = revision }) }

// rollBack forgets what came after revision.
func (f *fake) rollBack(revision int64) {
	f.change(func() {
		f.revision = revision
		f.history = slices.DeleteFunc(f.history, func(e storage.Event) bool { return e.Revision > revision })
	})
}

func (f *fake) breakStreams() { f.change(func() { f.epoch++ }) }

func (f *fake) Revision(ctx context.Context) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	if f.down {
		return 0, storage.ErrUnavailable
	}
	return f.revision, ctx.Err()
}

func (f *fake) Range(_ context.Context, r storage.RangeRequest) (*storage.RangeResult, error) {
	f.mu.Lock()
	f.pages++
	page, hook := f.pages, f.onRange
	f.mu.Unlock()
	if hook != nil {
		hook(page)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		return nil, storage.ErrUnavailable
	}
	result := &storage.RangeResult{Revision: r.Revision}
	if r.Revision == 0 {
		result.Revision = f.revision
	}
	if result.Revision < f.compacted {
		return nil, &storage.CompactedError{Revision: f.compacted}
	}
	for key, kv := range f.stateAt(result.Revision) {
		if strings.HasPrefix(key, r.Prefix) && key >= r.From {
			result.Items = append(result.Items, kv)
		}
	}
	slices.SortFunc(result.Items, func(a, b storage.KeyValue) int { return strings.Compare(a.Key, b.Key) })
	if n := len(result.Items); r.Limit > 0 && int64(n) > r.Limit {
		result.Items, result.More, result.Remaining = result.Items[:r.Limit], true, int64(n)-r.Limit
	}
	return result, nil
}

func (f *fake) Watch(_ context.Context, prefix string, after int64) (storage.Stream, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		return nil, storage.ErrUnavailable
	}
	if after == 0 {
		after = f.revision
	}
	return &fakeStream{fake: f, prefix: prefix, place: after, epoch: f.epoch}, nil
}

type fakeStream struct {
	fake   *fake
	prefix string
	epoch  int
	place  int64
	wanted bool // progress; guarded by fake.mu
}

func (s *fakeStream) Next(ctx context.Context) (storage.Batch, error) {
	for {
		s.fake.mu.Lock()
		batch, found, err := s.take()
		changed := s.fake.changed
		s.fake.mu.Unlock()
		if found || err != nil {
			return batch, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return storage.Batch{}, ctx.Err()
		}
	}
}

func (s *fakeStream) take() (batch storage.Batch, found bool, err error) {
	f := s.fake
	switch {
	case f.down || s.epoch != f.epoch:
		return batch, false, storage.ErrUnavailable
	case s.place+1 < f.compacted:
		return batch, false, &storage.CompactedError{Revision: f.compacted}
	case f.stalled:
		return batch, false, nil
	}
	for _, e := range f.history {
		if e.Revision <= s.place || !strings.HasPrefix(e.Key, s.prefix) {
			continue
		}
		if len(batch.Events) > 0 && e.Revision != batch.Revision && !f.coalesce {
			break
		}
		batch.Events, batch.Revision = append(batch.Events, e), e.Revision
	}
	if len(batch.Events) == 0 && s.wanted {
		batch.Revision, s.wanted = f.revision, false
		found = true
	}
	if len(batch.Events) > 0 {
		found = true
	}
	if found {
		s.place = batch.Revision
	}
	return batch, found, nil
}

func (s *fakeStream) RequestProgress(context.Context) error {
	s.fake.change(func() {
		s.fake.requests++
		s.wanted = s.wanted || !s.fake.deaf
	})
	return nil
}

func (s *fakeStream) Close() {}

func noPause(int) time.Duration { return time.Millisecond }
