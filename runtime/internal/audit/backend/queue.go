package backend

import (
	"context"
	"errors"
	"sync"
	"time"
)

var (
	errFull = errors.New("audit buffer queue blocked")
	errShut = errors.New("audit backend shut down")
)

// queue holds encoded events, up to a number and to the sum of their sizes. The sizes count until release.
type queue struct {
	maxEvents int
	maxBytes  int64
	wake      chan struct{} // has an element after a put

	mu     sync.Mutex // guards the fields below
	events [][]byte
	bytes  int64
	closed bool
}

func newQueue(maxEvents int, maxBytes int64) *queue {
	return &queue{maxEvents: maxEvents, maxBytes: maxBytes, wake: make(chan struct{}, 1)}
}

// put adds a copy of an event.
func (q *queue) put(event []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return errShut
	case len(q.events) >= q.maxEvents || q.bytes+int64(len(event)) > q.maxBytes:
		return errFull
	}
	q.events = append(q.events, append([]byte(nil), event...))
	q.bytes += int64(len(event))
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return nil
}

// take removes a batch: as soon as the queue has most events, when wait is over, or when ctx ends. It returns nothing
// if the queue is empty then. A batch has at most maxBytes, if that isn't 0, unless it is one event.
func (q *queue) take(ctx context.Context, most int, maxBytes int64, wait time.Duration) [][]byte {
	var timeout <-chan time.Time
	if most > 1 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		timeout = timer.C
	}
	for q.len() < most {
		select {
		case <-q.wake:
			continue
		case <-timeout:
		case <-ctx.Done():
		}
		break
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	n, size := 0, int64(0)
	for ; n < min(most, len(q.events)); n++ {
		if size += int64(len(q.events[n])); n > 0 && maxBytes > 0 && size > maxBytes {
			break
		}
	}
	batch := q.events[:n:n]
	if q.events = q.events[n:]; len(q.events) == 0 {
		q.events = nil
	}
	return batch
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.events)
}

// release says that a batch is delivered or lost.
func (q *queue) release(batch [][]byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, event := range batch {
		q.bytes -= int64(len(event))
	}
}

// close refuses events from now on. It returns false if the queue still has some.
func (q *queue) close() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	return len(q.events) == 0
}
