// Package queue decides which requests of a priority level execute, and which wait. It queues fairly: flows that ask
// for less than their share are served at once, and flows that ask for more share the rest equally, whatever they send.
//
// A request occupies seats, of which a Set has a limited number. A hash of its flow deals it a small hand of the Set's
// queues (shuffle sharding), and it joins the one with the least waiting work. So a flow that fills its queues hardly
// ever fills the whole hand of another flow.
//
// Which queue is next is decided in a virtual world, in which all queues that are not empty get the same number of
// seats at every moment. The virtual time R advances by the work that each of them gets there. A queue keeps the R at
// which its next request begins in that world; the request that would end first there is dispatched here. How long a
// request takes is not known at the beginning: the Set assumes guess, and corrects the queue's R at the end. No request
// passes one that was chosen and that doesn't fit, so that requests of many seats don't starve.
//
// The rules, and what they lead to, are those of kube-apiserver (KEP-1040). The package imports nothing of ours.
package queue

import (
	"math/bits"
	"sync"
	"time"
)

// guess is how long every request is expected to execute.
const guess = 3 * time.Millisecond

// Clock tells the time, and calls functions later, in goroutines of their own.
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func())
}

// RealClock is the Clock of the process.
type RealClock struct{}

// Now implements Clock.
func (RealClock) Now() time.Time { return time.Now() }

// AfterFunc implements Clock.
func (RealClock) AfterFunc(d time.Duration, f func()) { time.AfterFunc(d, f) }

// Config says how a Set queues.
type Config struct {
	// Queues is the number of queues. If it is 0, requests that don't get seats at once are rejected.
	Queues int
	// Length is the number of requests in a queue from which on further ones are rejected, unless seats are free.
	Length int
	// Hand is the number of queues among which a flow has the choice.
	Hand int
	// Exempt is a Set without a limit, which counts and queues nothing. It ignores the other fields.
	Exempt bool
}

// Check returns what is wrong with the configuration.
func (c Config) Check() error {
	if c.Exempt || c.Queues <= 0 {
		return nil
	}
	return checkHand(c.Queues, c.Hand)
}

// Set has the queues and the seats of a priority level. It is safe for concurrent use.
type Set struct {
	clock Clock

	mu     sync.Mutex // guards everything below, all Tickets of the Set, and the counts of their Flows
	config Config
	limit  int
	lines  []*line
	// waitingLines has a bit for each line in which requests wait.
	waitingLines []uint64
	// virtual is the virtual time at the time last.
	virtual Work
	last    time.Time
	// robin is the line that was chosen last: of lines that are equal, the next one behind it is chosen.
	robin int
	// dealt counts hands, so that equal choices in overlapping hands spread.
	dealt int
	// unqueued are the requests that execute without having been in a line.
	unqueued list

	// lineSeats are the seats for which the lines ask, in use or waiting, and activeLines the lines that are not empty.
	lineSeats, activeLines int
	waiting, executing     int
	seats, waitingSeats    int

	dispatched, rejected, timedOut int
	demand                         demand
	dwells                         dwells
	latest                         Dispatch
}

// line is one queue: the requests that wait in it, and those from it that execute.
type line struct {
	waiting, executing list
	// next is the R at which the next request begins in the virtual world. It means something while the line is active.
	next Work
	// waitingSeats and waitingWork are those of the waiting requests, and seats those in use.
	waitingSeats, seats int
	waitingWork         Work
}

// active reports whether requests of the line wait or execute.
func (l *line) active() bool { return l.waiting.len+l.executing.len > 0 }

// New returns a Set with no seats. Its configuration must have passed Check.
func New(clock Clock, config Config) *Set {
	now := clock.Now()
	s := &Set{clock: clock, last: now, demand: demand{since: now, last: now}, dwells: newDwells(now)}
	s.Configure(config, 0, 1)
	return s
}

// Configure changes the configuration, which must have passed Check, and the number of seats. Requests that wait stay
// where they are. of is the number to which metrics relate the seats in use; it is above 0.
func (s *Set) Configure(config Config, limit, of int) {
	s.lock()
	defer s.mu.Unlock()
	s.config, s.limit = config, limit
	if !config.Exempt {
		for len(s.lines) < config.Queues {
			s.lines = append(s.lines, &line{})
		}
	}
	s.trim()
	s.waitingLines = append(s.waitingLines, make([]uint64, max(0, (len(s.lines)+63)/64-len(s.waitingLines)))...)
	s.dwells.relate(s.last, of, max(1, config.Length)*max(1, config.Queues))
	s.dispatch()
}

// Limit changes the number of seats. of is as in Configure.
func (s *Set) Limit(limit, of int) {
	s.mu.Lock()
	config := s.config
	s.mu.Unlock()
	s.Configure(config, limit, of)
}

// trim drops lines that are too many, once they are empty.
func (s *Set) trim() {
	for n := len(s.lines); n > s.config.Queues; n-- {
		if l := s.lines[n-1]; l.active() || l.seats > 0 {
			return
		}
		s.lines = s.lines[:n-1]
		s.robin = min(s.robin, max(0, n-2))
	}
}

// lock locks the Set and brings the virtual time up to the clock.
func (s *Set) lock() {
	s.mu.Lock()
	now := s.clock.Now()
	if s.activeLines > 0 {
		rate := float64(min(s.lineSeats, s.limit)) / float64(s.activeLines)
		s.virtual += workOf(rate, now.Sub(s.last))
	}
	s.last = now
}

// Idle reports whether no request waits or executes.
func (s *Set) Idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting+s.executing == 0
}

// TakeDemand returns the demand since the last call, or since New.
func (s *Set) TakeDemand() Demand {
	s.lock()
	defer s.mu.Unlock()
	return s.demand.take(s.last)
}

// seat adds seats to those in use by a line, which may be nil.
func (s *Set) seat(l *line, seats int) {
	s.seats += seats
	if l != nil {
		l.seats += seats
		s.lineSeats += seats
	}
	s.dwells.seats.Set(s.last, float64(s.seats))
	s.measureDemand()
}

func (s *Set) measureDemand() {
	s.demand.set(s.last, s.seats+s.waitingSeats)
	s.dwells.demand.Set(s.last, float64(s.seats+s.waitingSeats))
}

// mark notes whether requests wait in a line.
func (s *Set) mark(at int) {
	if bit := uint64(1) << (at % 64); s.lines[at].waiting.len > 0 {
		s.waitingLines[at/64] |= bit
	} else {
		s.waitingLines[at/64] &^= bit
	}
}

// nextWaiting returns the first line from a position on in which requests wait, or -1.
func (s *Set) nextWaiting(from int) int {
	for word := from / 64; word < len(s.waitingLines); word++ {
		set := s.waitingLines[word]
		if word == from/64 {
			set &= ^uint64(0) << (from % 64)
		}
		if set != 0 {
			return word*64 + bits.TrailingZeros64(set)
		}
	}
	return -1
}
