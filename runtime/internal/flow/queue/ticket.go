package queue

import (
	"context"
	"time"
)

// Rejection is why a request is rejected. Its text is the value of the label reason of kube-apiserver's metric.
type Rejection string

// The reasons.
const (
	QueueFull        Rejection = "queue-full"
	ConcurrencyLimit Rejection = "concurrency-limit"
	TimeOut          Rejection = "time-out"
)

// Rejections are all reasons.
var Rejections = [...]Rejection{QueueFull, ConcurrencyLimit, TimeOut}

// Error implements error.
func (r Rejection) Error() string { return "the request is rejected: " + string(r) }

// Arrival describes a request that arrives.
type Arrival struct {
	// Flow counts the request, and names what it matched.
	Flow *Flow
	// Hash is that of the flow, for the choice of a queue. Distinguisher is the rest of the flow's name, for dumps.
	Hash          uint64
	Distinguisher string
	Estimate      Estimate
	// Detail is for dumps.
	Detail any
}

// Ticket is a request that a Set let in. Its holder calls Wait once, and after Wait returned nil, Leave once. Nobody
// copies it, and the Set may need it for some time after Leave.
type Ticket struct {
	Arrival
	set *Set
	// line is the index of the request's line; -1 if it is in none.
	line       int
	queue      *line
	prev, next *Ticket
	// work is that of the whole request, arrivedAt the virtual time of its arrival.
	work, arrivedAt  Work
	arrived, started time.Time
	waits            bool
	ready            chan struct{} // closed when a request that had to wait is dispatched; else nil
}

// Enter lets a request in, with a zero Ticket, or rejects it with a Rejection.
func (s *Set) Enter(t *Ticket, a Arrival) error {
	t.Arrival, t.set, t.line = a, s, -1
	t.work = workOf(float64(a.Estimate.Seats), guess) + workOf(float64(a.Estimate.Final), a.Estimate.Latency)
	s.lock()
	defer s.mu.Unlock()
	t.arrived, t.arrivedAt = s.last, s.virtual
	if s.config.Exempt || s.config.Queues < 1 {
		if !s.fits(t.Estimate.Max()) {
			return s.reject(a.Flow, ConcurrencyLimit)
		}
		s.execute(t)
		return nil
	}
	t.line = s.choose(a.Hash)
	t.queue = s.lines[t.line]
	if s.seats >= s.limit && t.queue.waiting.len >= s.config.Length {
		s.bound(t.queue)
		return s.reject(a.Flow, QueueFull)
	}
	s.enqueue(t)
	s.dispatch()
	if t.waits {
		t.ready = make(chan struct{})
	}
	return nil
}

func (s *Set) reject(f *Flow, why Rejection) error {
	s.rejected++
	f.reject(why)
	return why
}

// choose deals the hand of a hash, and returns the line with the least waiting work in it.
func (s *Set) choose(hash uint64) int {
	var space [maxHand]int
	hand := deal(space[:0], hash, s.config.Queues, s.config.Hand)
	from := s.dealt % len(hand)
	s.dealt++
	best := hand[from]
	for i := 1; i < len(hand); i++ {
		if at := hand[(from+i)%len(hand)]; s.lines[at].waitingWork < s.lines[best].waitingWork {
			best = at
		}
	}
	return best
}

func (s *Set) enqueue(t *Ticket) {
	l, seats := t.queue, t.Estimate.Max()
	if !l.active() {
		l.next = s.virtual
		s.activeLines++
	}
	l.waiting.push(t)
	t.waits = true
	l.waitingSeats += seats
	l.waitingWork += t.work
	s.lineSeats += seats
	s.waiting++
	s.waitingSeats += seats
	t.Flow.wait(1, seats)
	s.mark(t.line)
	s.bound(l)
	s.dwells.waiting.Set(s.last, float64(s.waiting))
	s.measureDemand()
	if t.Flow.Enqueued != nil {
		t.Flow.Enqueued(l.waiting.len)
	}
}

// dequeue takes a waiting request out of its line.
func (s *Set) dequeue(t *Ticket) {
	l, seats := t.queue, t.Estimate.Max()
	l.waiting.remove(t)
	t.waits = false
	l.waitingSeats -= seats
	l.waitingWork -= t.work
	s.lineSeats -= seats
	s.waiting--
	s.waitingSeats -= seats
	t.Flow.wait(-1, -seats)
	s.mark(t.line)
	s.dwells.waiting.Set(s.last, float64(s.waiting))
}

// Wait waits until the request may execute. If ctx ends before, the request leaves its queue and Wait returns TimeOut.
func (t *Ticket) Wait(ctx context.Context) error {
	if t.ready == nil {
		return nil
	}
	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
	}
	s := t.set
	s.lock()
	defer s.mu.Unlock()
	if !t.waits {
		return nil // it was dispatched meanwhile
	}
	s.dequeue(t)
	s.measureDemand()
	s.settle(t.queue)
	s.bound(t.queue)
	s.timedOut++
	s.dispatch() // those that waited behind it may fit; kube-apiserver leaves them until the next request leaves
	return s.reject(t.Flow, TimeOut)
}

// settle counts a line out that has become empty.
func (s *Set) settle(l *line) {
	if !l.active() {
		s.activeLines--
	}
	s.trim()
}

// Waited reports whether the request had to wait for seats.
func (t *Ticket) Waited() bool { return t.ready != nil }

// Arrived returns when the request entered.
func (t *Ticket) Arrived() time.Time { return t.arrived }

// Started returns when the request began to execute. It is for the time after Wait returned nil.
func (t *Ticket) Started() time.Time { return t.started }

// Leave ends the execution of the request, and returns when it ended. Its seats are free at once, or after the latency
// of its estimate.
func (t *Ticket) Leave() (ended time.Time) {
	s := t.set
	s.lock()
	defer s.mu.Unlock()
	ended = s.last
	s.executing--
	t.Flow.execute(-1, 0)
	s.dwells.executing.Set(s.last, float64(s.executing))
	if l := t.queue; l == nil {
		s.unqueued.remove(t)
	} else {
		l.executing.remove(t)
		l.next -= workOf(float64(t.Estimate.Seats), guess-s.last.Sub(t.started))
		s.bound(l)
		s.settle(l)
	}
	if t.Estimate.Latency > 0 {
		s.clock.AfterFunc(t.Estimate.Latency, func() {
			s.lock()
			defer s.mu.Unlock()
			t.release()
			s.dispatch()
		})
	} else {
		t.release()
	}
	s.dispatch()
	return ended
}

// release frees the seats of the request.
func (t *Ticket) release() {
	t.Flow.execute(0, -t.Estimate.Max())
	t.set.seat(t.queue, -t.Estimate.Max())
	t.set.trim()
}

// list is a list of tickets, the oldest first. A ticket is in one list at most.
type list struct {
	first, last *Ticket
	len         int
}

func (l *list) push(t *Ticket) {
	t.prev, t.next = l.last, nil
	if l.last == nil {
		l.first = t
	} else {
		l.last.next = t
	}
	l.last = t
	l.len++
}

func (l *list) remove(t *Ticket) {
	if t.prev == nil {
		l.first = t.next
	} else {
		t.prev.next = t.next
	}
	if t.next == nil {
		l.last = t.prev
	} else {
		t.next.prev = t.prev
	}
	t.prev, t.next = nil, nil
	l.len--
}
