package queue

import "time"

// Dump is a Set as an administrator sees it.
type Dump struct {
	Waiting, Executing, Seats, WaitingSeats int
	// Dispatched, Rejected and TimedOut count since the beginning. Those that timed out were rejected, too.
	Dispatched, Rejected, TimedOut int
	Queues                         []QueueDump
	// Unqueued are the requests that execute without having been in a queue.
	Unqueued []RequestDump
}

// QueueDump is a queue as an administrator sees it.
type QueueDump struct {
	Waiting, Executing []RequestDump
	Seats              int
	// Next is the R at which the next request begins in the virtual world.
	Next Work
	// The sums are over the waiting requests.
	InitialSeats, MaxSeats int
	Work                   Work
}

// RequestDump is a request as an administrator sees it. Started is the zero time of a request that waits.
type RequestDump struct {
	Flow, Distinguisher string
	Estimate            Estimate
	Arrived, Started    time.Time
	Detail              any
}

// Dump returns the present state of the Set.
func (s *Set) Dump() Dump {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := Dump{
		Waiting: s.waiting, Executing: s.executing, Seats: s.seats, WaitingSeats: s.waitingSeats,
		Dispatched: s.dispatched, Rejected: s.rejected, TimedOut: s.timedOut, Unqueued: s.unqueued.dump(),
	}
	for _, l := range s.lines {
		q := QueueDump{
			Waiting: l.waiting.dump(), Executing: l.executing.dump(), Seats: l.seats, Next: l.next,
			MaxSeats: l.waitingSeats, Work: l.waitingWork,
		}
		for _, r := range q.Waiting {
			q.InitialSeats += r.Estimate.Seats
		}
		d.Queues = append(d.Queues, q)
	}
	return d
}

func (l *list) dump() (all []RequestDump) {
	for t := l.first; t != nil; t = t.next {
		all = append(all, RequestDump{
			Flow: t.Flow.Name, Distinguisher: t.Distinguisher, Estimate: t.Estimate, Arrived: t.arrived,
			Started: t.started, Detail: t.Detail,
		})
	}
	return all
}
