package faults

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// bound is how far a floor may grow: by a share of itself, and by some more.
type bound struct{ share, more float64 }

// leastRests are how many rests of a process are enough for a judgement.
const leastRests = 6

// grown compares the least of the first third of floors, after the first fifth as warm-up, with the least of the last
// third. It reports whether that grew beyond the bound, and whether there were enough for a judgement.
func grown(floors []float64, b bound) (from, to float64, beyond, enough bool) {
	if len(floors) < leastRests {
		return 0, 0, false, false
	}
	warm := floors[max(1, len(floors)/5):]
	third := max(1, len(warm)/3)
	from, to = slices.Min(warm[:third]), slices.Min(warm[len(warm)-third:])
	return from, to, to > from*(1+b.share)+b.more, true
}

// streamGoroutines are how many goroutines more a watch has that storage serves instead of a cache: those of a stream
// of etcd's client, without those of a watcher of the cache. In the rests of half an hour, replicas had 399 goroutines
// with 30 watches of caches, 453 with 21, and 309 with 45.
const streamGoroutines = 6

// judged is the value of a measure that a judgement compares. A watch that begins while its cache isn't ready is served
// by storage for all of its life, such as the hour of a watch of the garbage collector. So goroutines are counted as if
// storage served all watches: a watch that moves is no leak. Memory is counted without what caches keep within their
// budgets.
func (s sample) judged(title string) float64 {
	switch title {
	case goroutines:
		return s.values[title] + streamGoroutines*s.values[watched]
	case heap, resident:
		return s.values[title] - s.values[kept]
	}
	return s.values[title]
}

// judge compares what each process kept from rest to rest, and adds the verdicts to the record's.
func (r *record) judge() []finding {
	type life struct {
		replica int
		born    float64
	}
	lives := map[life][][]sample{} // by rest
	for _, s := range r.rests {
		of := life{s.replica, s.born}
		rests := lives[of]
		if n := len(rests); n == 0 || rests[n-1][0].rest != s.rest {
			rests = append(rests, nil)
		}
		rests[len(rests)-1] = append(rests[len(rests)-1], s)
		lives[of] = rests
	}
	for _, of := range slices.SortedFunc(maps.Keys(lives), func(a, b life) int {
		return cmp.Or(cmp.Compare(a.replica, b.replica), cmp.Compare(a.born, b.born))
	}) {
		rests := lives[of]
		for _, m := range measures {
			if m.bound == (bound{}) {
				continue
			}
			var floors []float64
			for _, rest := range rests {
				floor := rest[0].judged(m.title)
				for _, s := range rest {
					floor = min(floor, s.judged(m.title))
				}
				floors = append(floors, floor)
			}
			from, to, beyond, enough := grown(floors, m.bound)
			if enough {
				lived := rests[len(rests)-1][0].at - rests[0][0].at
				r.verdict(fmt.Sprintf("replica %d, %s", of.replica, m.title), !beyond, fmt.Sprintf(
					"the floor went from %.1f to %.1f in %d rests, within %s; up to %.0f %% and %.0f more are allowed",
					from, to, len(floors), lived.Round(time.Second), 100*m.bound.share, m.bound.more))
			}
		}
	}
	return r.verdicts
}

// A planted leak is found, be it slow; noise, a warm-up, and peaks are none.
func TestGrown(t *testing.T) {
	random := rand.New(rand.NewPCG(seed, 0))
	series := func(n int, at func(i int) float64) (floors []float64) {
		for i := range n {
			floors = append(floors, 100*at(i)+3*random.Float64())
		}
		return floors
	}
	for _, test := range []struct {
		name           string
		floors         []float64
		beyond, enough bool
	}{
		{"noise", series(30, func(int) float64 { return 1 }), false, true},
		{"a slow leak", series(30, func(i int) float64 { return 1 + 0.01*float64(i) }), true, true},
		{"a leak in a short life", series(leastRests, func(i int) float64 { return 1 + 0.05*float64(i) }), true, true},
		{"a late leak", series(30, func(i int) float64 { return 1 + 0.05*float64(max(0, i-15)) }), true, true},
		{"a warm-up", series(30, func(i int) float64 { return min(1, 0.3+0.2*float64(i)) }), false, true},
		{"peaks", series(30, func(i int) float64 { return 1 + float64(i%4/3*i) }), false, true},
		{"it shrinks", series(30, func(i int) float64 { return 2 - 0.02*float64(i) }), false, true},
		{"too short a life", series(leastRests-1, func(i int) float64 { return 1 + float64(i) }), false, false},
	} {
		if _, _, beyond, enough := grown(test.floors, bound{0.10, 4}); beyond != test.beyond || enough != test.enough {
			t.Errorf("%s: beyond %t, enough %t: %.0f", test.name, beyond, enough, test.floors)
		}
	}
}

// The samples of a rest count once, by their least, and each process for itself.
func TestJudge(t *testing.T) {
	planted := func(rests int, alive func(rest int) float64) *record {
		r := &record{}
		for rest := range rests {
			for n := range 4 {
				for i, value := range []float64{50, alive(rest)} {
					at := time.Duration(rest)*5*time.Minute + time.Duration(n)*time.Second
					values := map[string]float64{heap: value + float64(20*n)}
					r.rests = append(r.rests, sample{at, i, rest + 1, 1, values})
				}
			}
		}
		return r
	}
	bad := func(r *record) (subjects []string) {
		for _, v := range r.judge() {
			if !v.OK {
				subjects = append(subjects, v.Subject)
			}
		}
		return subjects
	}
	if leaks := bad(planted(20, func(rest int) float64 { return 50 + float64(rest) })); len(leaks) != 1 ||
		leaks[0] != "replica 1, live heap, MiB" {
		t.Errorf("a leak of a MiB in each round is found as %q", leaks)
	}
	if leaks := bad(planted(20, func(int) float64 { return 50 })); leaks != nil {
		t.Errorf("of no leak, %q is found", leaks)
	}
	moved := planted(20, func(int) float64 { return 50 })
	for i, s := range moved.rests {
		away := float64(min(20, s.rest))
		if s.replica == 0 {
			away = 20 - away
		}
		s.values[goroutines], s.values[watched] = 300+streamGoroutines*away, 45-away
		if s.replica == 1 {
			s.values[goroutines] += 5 * float64(s.rest)
		}
		moved.rests[i] = s
	}
	if leaks := bad(moved); len(leaks) != 1 || leaks[0] != "replica 1, goroutines" {
		t.Errorf("watches move to caches and away from them, and goroutines leak at the second: %q", leaks)
	}
	filled := planted(20, func(rest int) float64 { return 50 + float64(rest) })
	for i := range filled.rests {
		s := &filled.rests[i]
		s.values[kept] = float64(s.rest)
		s.values[heap] += 2 * float64(1-s.replica) * s.values[kept] // more than the first replica's caches keep
	}
	if leaks := bad(filled); len(leaks) != 1 || leaks[0] != "replica 0, live heap, MiB" {
		t.Errorf("both replicas' caches keep more, and the first's heap grows by twice as much: %q", leaks)
	}
	if verdicts := planted(3, func(int) float64 { return 50 }).judge(); verdicts != nil {
		t.Errorf("three rests are enough for %v", verdicts)
	}
}
