package queue

// Dispatch describes the latest dispatch from a queue in the virtual world, for metrics. All values are virtual times,
// in seat-seconds.
type Dispatch struct {
	// R is the virtual time of the dispatch, and Begin that at which the request began in the virtual world.
	R, Begin float64
	// Min and Max bound the times at which the oldest requests of the queues begin; MinDiscounted and MaxDiscounted do
	// so less the work in progress.
	Min, Max, MinDiscounted, MaxDiscounted float64
}

// dispatch dispatches as many waiting requests as possible.
func (s *Set) dispatch() {
	for s.waiting > 0 && s.seats < s.limit && s.dispatchNext() {
	}
}

// dispatchNext dispatches the request that is next. It returns false if that doesn't fit.
func (s *Set) dispatchNext() bool {
	at := s.nextLine()
	l := s.lines[at]
	t := l.waiting.first
	if !s.fits(t.Estimate.Max()) {
		t.Flow.unaccommodated++
		return false
	}
	s.robin = at
	s.dequeue(t)
	s.fold(t)
	s.latest.R, s.latest.Begin = s.virtual.SeatSeconds(), l.next.SeatSeconds()
	s.execute(t)
	l.next += t.work
	s.bound(l)
	if t.ready != nil {
		close(t.ready)
	}
	return true
}

// nextLine returns the line whose oldest waiting request ends first in the virtual world; of those that are equal, the
// next one behind the line that was chosen last.
func (s *Set) nextLine() int {
	best, earliest := -1, maxWork
	bounds := [4]Work{maxWork, -maxWork, maxWork, -maxWork}
	from := (s.robin + 1) % len(s.lines)
	for at := s.nextWaiting(from); at >= 0; at = s.nextWaiting(at + 1) {
		best, earliest = s.compare(at, best, earliest, &bounds)
	}
	for at := s.nextWaiting(0); at >= 0 && at < from; at = s.nextWaiting(at + 1) {
		best, earliest = s.compare(at, best, earliest, &bounds)
	}
	s.latest.Min, s.latest.Max = (s.virtual + bounds[0]).SeatSeconds(), (s.virtual + bounds[1]).SeatSeconds()
	s.latest.MinDiscounted = (s.virtual + bounds[2]).SeatSeconds()
	s.latest.MaxDiscounted = (s.virtual + bounds[3]).SeatSeconds()
	return best
}

// compare returns the better one of two lines, with the end of its oldest request. Times are related to the present R.
func (s *Set) compare(at, best int, earliest Work, bounds *[4]Work) (int, Work) {
	l := s.lines[at]
	begin := l.next - s.virtual
	discounted := begin - workOf(float64(l.seats), guess)
	bounds[0], bounds[1] = min(bounds[0], begin), max(bounds[1], begin)
	bounds[2], bounds[3] = min(bounds[2], discounted), max(bounds[3], discounted)
	if end := begin + l.waiting.first.work; end < earliest {
		return at, end
	}
	return best, earliest
}

// fits reports whether a request of so many seats may execute now. One that asks for more seats than there are executes
// when nothing else does.
func (s *Set) fits(seats int) bool {
	switch {
	case s.config.Exempt:
		return true
	case seats > s.limit:
		return s.executing == 0
	default:
		return s.seats+seats <= s.limit
	}
}

// fold makes the final seats of a request no more than there are, and their time longer instead.
func (s *Set) fold(t *Ticket) {
	if e := &t.Estimate; e.Final > s.limit {
		e.Latency = workOf(float64(e.Final), e.Latency).over(s.limit)
		e.Final = s.limit
	}
}

// execute lets a request execute that doesn't wait, or no longer waits.
func (s *Set) execute(t *Ticket) {
	t.started = s.last
	s.executing++
	s.dispatched++
	t.Flow.dispatched++
	t.Flow.execute(1, t.Estimate.Max())
	if t.queue == nil {
		s.unqueued.push(t)
	} else {
		t.queue.executing.push(t)
	}
	s.dwells.executing.Set(s.last, float64(s.executing))
	s.seat(t.queue, t.Estimate.Max())
}

// bound keeps a line from saving up: its oldest waiting request doesn't begin before it arrived. Otherwise a flow that
// asks for little over a long time could then take all seats.
func (s *Set) bound(l *line) {
	if t := l.waiting.first; t != nil && l.next-t.arrivedAt < 0 {
		l.next = t.arrivedAt
	}
}
