package collector

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// queue holds the uids of objects that workers handle. It holds a uid once, however often it is added, and gives it to
// one worker at a time.
type queue struct {
	mu     sync.Mutex // guards the fields below
	some   sync.Cond  // signals that ready isn't empty, or that the queue is closed
	ready  []types.UID
	items  map[types.UID]*item
	closed bool
}

// item is the state of a uid that is in ready, with a worker, or waiting for its timer.
type item struct {
	running bool
	again   bool // the uid was added while it was running
	tries   int
	timer   *time.Timer
}

func newQueue() *queue {
	q := &queue{items: map[types.UID]*item{}}
	q.some.L = &q.mu
	return q
}

func (q *queue) add(uids ...types.UID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, uid := range uids {
		it := q.items[uid]
		switch {
		case q.closed:
			return
		case it == nil:
			q.items[uid] = &item{}
		case it.running:
			it.again = true
			continue
		case it.timer == nil || !it.timer.Stop():
			continue // the uid is in ready, or about to be
		default:
			it.timer = nil
		}
		q.push(uid)
	}
}

func (q *queue) push(uid types.UID) {
	q.ready = append(q.ready, uid)
	q.some.Signal()
}

// take waits for a uid. It returns false when the queue is closed. The caller calls done afterwards.
func (q *queue) take() (uid types.UID, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.ready) == 0 && !q.closed {
		q.some.Wait()
	}
	if q.closed {
		return "", false
	}
	uid = q.ready[0]
	if q.ready = q.ready[1:]; len(q.ready) == 0 {
		q.ready = nil // frees the uids that were taken
	}
	q.items[uid].running = true
	return uid, true
}

// done says that a worker has handled a uid. The queue gives the uid out again after a time, if that isn't 0. If the
// worker failed, the time depends on the number of failures in a row, which done returns.
func (q *queue) done(uid types.UID, after time.Duration, failed bool) (tries int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	it := q.items[uid]
	it.running = false
	if failed {
		it.tries++
		after = min(firstRetry<<min(it.tries-1, 20), lastRetry)
	} else {
		it.tries = 0
	}
	switch {
	case q.closed || after == 0 && !it.again:
		delete(q.items, uid)
	case it.again:
		it.again = false
		q.push(uid)
	default:
		it.timer = time.AfterFunc(after, func() { q.due(uid, it) })
	}
	return it.tries
}

func (q *queue) due(uid types.UID, it *item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.items[uid] == it && it.timer != nil && !q.closed {
		it.timer = nil
		q.push(uid)
	}
}

// len returns how many uids are queued or being handled.
func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, it := range q.items {
		if it.timer != nil {
			it.timer.Stop()
		}
	}
	q.some.Broadcast()
}
