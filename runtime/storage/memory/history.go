package memory

import (
	"slices"
	"sync"
	"sync/atomic"

	"apigen.dev/runtime/storage"
)

// record is one revision: an event, and the state after it. Records form a list that watchers walk on their own. The
// garbage collector frees records that no watcher holds.
type record struct {
	revision int64
	event    storage.Event // zero in the first record of all
	root     *node
	next     atomic.Pointer[record]
	followed chan struct{} // closed once next is set
}

func newRecord(revision int64, event storage.Event, root *node) *record {
	return &record{revision: revision, event: event, root: root, followed: make(chan struct{})}
}

// history is the records since the last compaction.
type history struct {
	tail atomic.Pointer[record] // the current state; set under mu, read without it

	mu      sync.Mutex
	records []*record // consecutive revisions, never empty; the last one is tail
}

func newHistory() *history {
	h := &history{}
	first := newRecord(1, storage.Event{}, nil)
	h.records = []*record{first}
	h.tail.Store(first)
	return h
}

// publish appends r. The caller makes sure that one goroutine at a time publishes, and that r follows the tail. Readers
// may see the state before a watcher sees the event.
func (h *history) publish(r *record) {
	previous := h.tail.Load()
	h.mu.Lock()
	h.records = append(h.records, r)
	h.tail.Store(r)
	h.mu.Unlock()
	previous.next.Store(r)
	close(previous.followed)
}

func (h *history) at(revision int64) (*record, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := revision - h.records[0].revision
	switch {
	case i < 0:
		return nil, &storage.CompactedError{Revision: h.records[0].revision}
	case i >= int64(len(h.records)):
		return nil, storage.ErrFutureRevision
	}
	return h.records[i], nil
}

// before returns the record from which a watcher starts that wants the events after a revision: the record of the
// revision itself; where that was compacted and no later one was, a stand-in for it; the tail where after is of the
// future.
func (h *history) before(after int64) (*record, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	oldest := h.records[0]
	i := after - oldest.revision
	switch {
	case i < -1:
		return nil, &storage.CompactedError{Revision: oldest.revision}
	case i == -1:
		standIn := newRecord(after, storage.Event{}, nil)
		standIn.next.Store(oldest)
		close(standIn.followed)
		return standIn, nil
	case i >= int64(len(h.records)):
		return h.records[len(h.records)-1], nil
	}
	return h.records[i], nil
}

func (h *history) compact(revision int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := revision - h.records[0].revision
	switch {
	case i >= int64(len(h.records)):
		return storage.ErrFutureRevision
	case i <= 0:
		return &storage.CompactedError{Revision: h.records[0].revision}
	}
	h.records = slices.Clone(h.records[i:])
	return nil
}
