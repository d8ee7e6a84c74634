package queue

import "time"

// Flow counts the requests that matched one rule in one Set. Only requests of that Set have it. Its zero value with a
// Name is ready.
type Flow struct {
	// Name is the name of the rule.
	Name string
	// Enqueued is called with the length of the queue that a request of the Flow joins. The Set is locked meanwhile.
	// nil is nothing.
	Enqueued func(length int)

	waiting, waitingSeats      int
	executing, executingSeats  int
	dispatched, unaccommodated int
	rejected                   [len(Rejections)]int
}

func (f *Flow) wait(requests, seats int) {
	f.waiting += requests
	f.waitingSeats += seats
}

func (f *Flow) execute(requests, seats int) {
	f.executing += requests
	f.executingSeats += seats
}

func (f *Flow) reject(why Rejection) {
	for i, reason := range Rejections {
		if reason == why {
			f.rejected[i]++
		}
	}
}

// FlowStats are the counts of a Flow.
type FlowStats struct {
	Waiting, WaitingSeats, Executing, ExecutingSeats int
	// Dispatched and Rejected count since the beginning. Unaccommodated counts the attempts to dispatch a request for
	// which there were too few seats.
	Dispatched, Unaccommodated int
	Rejected                   map[Rejection]int
}

// FlowStats returns the counts of a Flow of the Set.
func (s *Set) FlowStats(f *Flow) FlowStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := FlowStats{
		Waiting: f.waiting, WaitingSeats: f.waitingSeats, Executing: f.executing, ExecutingSeats: f.executingSeats,
		Dispatched: f.dispatched, Unaccommodated: f.unaccommodated, Rejected: map[Rejection]int{},
	}
	for i, reason := range Rejections {
		stats.Rejected[reason] = f.rejected[i]
	}
	return stats
}

// dwells are the histograms of a Set.
type dwells struct{ seats, demand, waiting, executing *Dwell }

// The bounds of the histograms are kube-apiserver's.
var (
	seatBounds    = []float64{0, .1, .2, .3, .4, .5, .6, .7, .8, .9, .95, .99, 1}
	demandBounds  = []float64{.2, .4, .6, .8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6}
	requestBounds = []float64{0, .001, .003, .01, .03, .1, .25, .5, .75, 1}
)

func newDwells(now time.Time) dwells {
	return dwells{
		seats: NewDwell(now, seatBounds), demand: NewDwell(now, demandBounds),
		waiting: NewDwell(now, requestBounds), executing: NewDwell(now, requestBounds),
	}
}

// relate sets the numbers of seats and of places in queues, to which the histograms relate.
func (d dwells) relate(now time.Time, seats, places int) {
	for _, of := range []*Dwell{d.seats, d.demand, d.executing} {
		of.Of(now, float64(seats))
	}
	d.waiting.Of(now, float64(places))
}

// Stats describes a Set.
type Stats struct {
	// R is the present virtual time, in seat-seconds, and Latest the latest dispatch from a queue.
	R      float64
	Latest Dispatch
	// Seats, Demand, Waiting and Executing are histograms of ratios: of the seats in use and of those in demand to the
	// limit, of the waiting requests to the places in queues, and of the executing requests to the limit.
	Seats, Demand, Waiting, Executing Histogram
}

// Stats returns a description of the Set as it is now.
func (s *Set) Stats() Stats {
	s.lock()
	defer s.mu.Unlock()
	return Stats{
		R: s.virtual.SeatSeconds(), Latest: s.latest,
		Seats: s.dwells.seats.Histogram(s.last), Demand: s.dwells.demand.Histogram(s.last),
		Waiting: s.dwells.waiting.Histogram(s.last), Executing: s.dwells.executing.Histogram(s.last),
	}
}
