package queue

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// check compares the sums that a Set keeps with those over its requests.
func (s *Set) check(t *testing.T) {
	t.Helper()
	var waiting, executing, waitingSeats, active, lineSeats int
	for i, l := range s.lines {
		var seats int
		var work Work
		for ticket := l.waiting.first; ticket != nil; ticket = ticket.next {
			seats += ticket.Estimate.Max()
			work += ticket.work
		}
		waiting, executing, waitingSeats = waiting+l.waiting.len, executing+l.executing.len, waitingSeats+seats
		lineSeats += seats + l.seats
		if l.active() {
			active++
		}
		marked := s.waitingLines[i/64]&(1<<(i%64)) != 0
		if seats != l.waitingSeats || work != l.waitingWork || marked != (l.waiting.len > 0) {
			t.Fatalf("line %d: %d seats and %s wait, %+v", i, seats, work, l)
		}
	}
	executing += s.unqueued.len
	got := [...]int{s.waiting, s.executing, s.waitingSeats, s.activeLines, s.lineSeats}
	if want := [...]int{waiting, executing, waitingSeats, active, lineSeats}; got != want {
		t.Fatalf("the set says %v, its requests %v", got, want)
	}
}

// TestSumsHold: whatever happens in which order, a Set knows what it has, and ends empty.
func TestSumsHold(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		clock := &fakeClock{now: time.Unix(0, 0)}
		s := New(clock, Config{})
		flows := []*Flow{{Name: "a"}, {Name: "b"}, {Name: "c"}}
		var all []*Ticket
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range 1000 {
			switch random.IntN(10) {
			case 0:
				queues := random.IntN(5)
				config := Config{Queues: queues, Length: 1 + random.IntN(10), Hand: 1 + random.IntN(max(queues, 1))}
				s.Configure(config, random.IntN(10), 10)
			case 1, 2, 3, 4, 5:
				ticket, err := enter(s, Arrival{
					Flow: flows[random.IntN(3)], Hash: random.Uint64() >> 4, Estimate: Estimate{
						Seats: 1 + random.IntN(4), Final: random.IntN(6),
						Latency: time.Duration(random.IntN(3)) * time.Millisecond,
					},
				})
				if err == nil {
					all = append(all, ticket)
				}
			case 6, 7, 8:
				if len(all) == 0 {
					break
				}
				at := random.IntN(len(all))
				ticket := all[at]
				all = append(all[:at], all[at+1:]...)
				if ticket.Wait(ended) == nil {
					ticket.Leave()
				}
			case 9:
				clock.pass(time.Duration(random.IntN(4000)) * time.Microsecond)
			}
			s.check(t)
		}
		s.Configure(Config{}, 10, 10)
		for _, ticket := range all {
			if ticket.Wait(ended) == nil {
				ticket.Leave()
			}
		}
		clock.pass(time.Hour)
		s.check(t)
		if d := s.Dump(); d.Seats+d.Executing+d.Waiting+len(d.Queues) > 0 || !s.Idle() {
			t.Fatalf("seed %d ends with %+v", seed, d)
		}
	}
}

// load is a flow of a simulation: it has a number of requests at a time, each of which takes a time.
type load struct {
	flow             *Flow
	hash             uint64
	estimate         Estimate
	requests         int
	takes            time.Duration
	served           time.Duration // seats multiplied by time
	longest, waiting time.Duration
}

// simulate runs loads for a time.
func simulate(t *testing.T, clock *fakeClock, s *Set, random *rand.Rand, d time.Duration, loads ...*load) {
	type pending struct {
		*load
		ticket *Ticket
	}
	var waiting []pending
	var arrive func(*load)
	begin := func(p pending) {
		p.longest = max(p.longest, p.ticket.started.Sub(p.ticket.arrived))
		takes := p.takes/2 + time.Duration(random.Int64N(int64(p.takes)))
		clock.AfterFunc(takes, func() {
			p.served += takes * time.Duration(p.estimate.Seats)
			p.ticket.Leave()
			arrive(p.load)
		})
	}
	arrive = func(l *load) {
		ticket, err := enter(s, Arrival{Flow: l.flow, Hash: l.hash, Estimate: l.estimate})
		switch {
		case err != nil:
			clock.AfterFunc(l.takes, func() { arrive(l) })
		case ticket.Waited():
			waiting = append(waiting, pending{l, ticket})
		default:
			begin(pending{l, ticket})
		}
	}
	for _, l := range loads {
		for range l.requests {
			arrive(l)
		}
	}
	for end := clock.now.Add(d); clock.now.Before(end); clock.pass(250 * time.Microsecond) {
		var still []pending
		for _, p := range waiting {
			if p.ticket.waits {
				still = append(still, p)
			} else {
				begin(p)
			}
		}
		waiting = still
	}
	s.check(t)
	for _, p := range waiting {
		p.waiting = max(p.waiting, clock.now.Sub(p.ticket.arrived))
	}
}

// TestFlowsShareEqually: a flow that has more requests, slower ones or wider ones gets no more seats than another one,
// and one that asks for less than its share gets what it asks for.
func TestFlowsShareEqually(t *testing.T) {
	clock := &fakeClock{now: time.Unix(0, 0)}
	s := New(clock, Config{})
	s.Configure(Config{Queues: 4, Length: 100, Hand: 1}, 12, 12)
	one := Estimate{Seats: 1}
	many := &load{flow: &Flow{}, hash: 0, estimate: one, requests: 60, takes: 10 * time.Millisecond}
	slow := &load{flow: &Flow{}, hash: 1, estimate: one, requests: 20, takes: 50 * time.Millisecond}
	wide := &load{flow: &Flow{}, hash: 2, estimate: Estimate{Seats: 4}, requests: 8, takes: 10 * time.Millisecond}
	modest := &load{flow: &Flow{}, hash: 3, estimate: one, requests: 1, takes: 5 * time.Millisecond}
	const d = 5 * time.Second
	simulate(t, clock, s, rand.New(rand.NewPCG(1, 1)), d, many, slow, wide, modest)
	total := many.served + slow.served + wide.served
	for name, l := range map[string]*load{"many": many, "slow": slow, "wide": wide} {
		if share := float64(l.served) / float64(total); share < .30 || share > .37 {
			t.Errorf("%s gets %.3f of what the three get", name, share)
		}
	}
	if total+modest.served < d*12*8/10 {
		t.Errorf("seats were in use for %s of %s", total+modest.served, d*12)
	}
	if modest.longest > 60*time.Millisecond || modest.served < d/4 {
		t.Errorf("modest waited up to %s, and was served for %s", modest.longest, modest.served)
	}
}

// TestNobodyStarves: under a flood of narrow and fast requests from many flows, wide and slow ones get their turn.
func TestNobodyStarves(t *testing.T) {
	clock := &fakeClock{now: time.Unix(0, 0)}
	s := New(clock, Config{})
	s.Configure(Config{Queues: 16, Length: 50, Hand: 1}, 10, 10)
	victim := &load{flow: &Flow{}, hash: 15, estimate: Estimate{Seats: 10}, requests: 1, takes: 20 * time.Millisecond}
	loads := []*load{victim}
	for i := range uint64(15) {
		loads = append(loads, &load{flow: &Flow{}, hash: i, estimate: Estimate{Seats: 1}, requests: 20,
			takes: 2 * time.Millisecond})
	}
	simulate(t, clock, s, rand.New(rand.NewPCG(2, 2)), 5*time.Second, loads...)
	if victim.served == 0 || max(victim.longest, victim.waiting) > time.Second {
		t.Errorf("the wide request waited up to %s, and was served for %s",
			max(victim.longest, victim.waiting), victim.served)
	}
	for _, l := range loads[1:] {
		if l.longest > time.Second {
			t.Errorf("flow %d waited up to %s", l.hash, l.longest)
		}
	}
}

// TestVirtualTimeWraps: the order of dispatch is the same where the virtual time overflows meanwhile.
func TestVirtualTimeWraps(t *testing.T) {
	run := func(from Work) (served [2]time.Duration) {
		clock := &fakeClock{now: time.Unix(0, 0)}
		s := New(clock, Config{})
		s.virtual = from
		s.Configure(Config{Queues: 2, Length: 100, Hand: 1}, 4, 4)
		a := &load{flow: &Flow{}, hash: 0, estimate: Estimate{Seats: 1}, requests: 20, takes: 7 * time.Millisecond}
		b := &load{flow: &Flow{}, hash: 1, estimate: Estimate{Seats: 2}, requests: 20, takes: 5 * time.Millisecond}
		simulate(t, clock, s, rand.New(rand.NewPCG(3, 3)), 5*time.Second, a, b)
		return [2]time.Duration{a.served, b.served}
	}
	if at0, wrapping := run(0), run(maxWork-workOf(4, time.Second)); at0 != wrapping {
		t.Errorf("from 0 %v, across the overflow %v", at0, wrapping)
	}
}

// TestConcurrentUse: many goroutines at the limit, of which some give up.
func TestConcurrentUse(t *testing.T) {
	s := New(RealClock{}, Config{})
	config := Config{Queues: 8, Length: 20, Hand: 3}
	s.Configure(config, 4, 4)
	var inside, served, gaveUp atomic.Int64
	var working sync.WaitGroup
	for worker := range 64 {
		flow := &Flow{Name: "f"}
		working.Go(func() {
			for i := range 200 {
				ctx, cancel := context.WithCancel(t.Context())
				ticket, err := enter(s, Arrival{Flow: flow, Hash: uint64(worker), Estimate: Estimate{Seats: 1}})
				if i%3 == 0 {
					cancel()
				}
				if err == nil {
					err = ticket.Wait(ctx)
				}
				cancel()
				var rejection Rejection
				if errors.As(err, &rejection) {
					gaveUp.Add(1)
					continue
				}
				if n := inside.Add(1); n > 4 {
					t.Errorf("%d execute at once", n)
				}
				served.Add(1)
				inside.Add(-1)
				ticket.Leave()
			}
		})
	}
	working.Wait()
	if !s.Idle() || served.Load() == 0 || served.Load()+gaveUp.Load() != 64*200 {
		t.Errorf("idle %t, served %d, gave up %d", s.Idle(), served.Load(), gaveUp.Load())
	}
	s.check(t)
}

// TestHands: every hand has different queues, and every queue is dealt equally often.
func TestHands(t *testing.T) {
	counts := make([]int, 10)
	for hash := range uint64(10 * 9 * 8) {
		seen := map[int]bool{}
		for _, at := range deal(nil, hash, 10, 3) {
			counts[at]++
			seen[at] = true
		}
		if len(seen) != 3 {
			t.Fatalf("the hand of %d has %d queues", hash, len(seen))
		}
	}
	for at, n := range counts {
		if n != 10*9*8*3/10 {
			t.Errorf("queue %d is in %d hands", at, n)
		}
	}
}

// TestDwell: a histogram counts the nanoseconds at each ratio.
func TestDwell(t *testing.T) {
	now := time.Unix(0, 0)
	d := NewDwell(now, []float64{0, .5, 1})
	d.Of(now, 4)
	d.Set(now.Add(10), 2) // 10 ns at 0
	d.Set(now.Add(30), 5) // 20 ns at 0.5
	h := d.Histogram(now.Add(60))
	if h.Count != 60 || h.Sum != 20*.5+30*1.25 || h.Buckets[0] != 10 || h.Buckets[.5] != 30 || h.Buckets[1] != 30 {
		t.Errorf("%+v", h)
	}
}

func BenchmarkEnter(b *testing.B) {
	s := New(RealClock{}, Config{})
	s.Configure(Config{Queues: 128, Length: 50, Hand: 6}, 600, 600)
	flow := &Flow{Name: "f"}
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for hash := uint64(0); p.Next(); hash += 7919 {
			ticket, err := enter(s, Arrival{Flow: flow, Hash: hash, Estimate: Estimate{Seats: 1}})
			if err != nil {
				b.Error(err)
				return
			}
			_ = ticket.Wait(context.Background())
			ticket.Leave()
		}
	})
}
