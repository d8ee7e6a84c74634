package queue

import (
	"math"
	"time"
)

// Demand is how many seats a Set could have used during a period: those in use, and those for which requests waited.
type Demand struct {
	// Period is the length of the period. If it is 0, Average and Deviation are 0, too.
	Period time.Duration
	// Average is weighted by time, and Deviation is the standard deviation from it.
	Average, Deviation float64
	Max                int
}

// demand integrates the number of demanded seats over time.
type demand struct {
	since, last time.Time
	seats, max  int
	// sum and squares are the integrals of the number and of its square, over seconds.
	sum, squares float64
}

func (d *demand) advance(now time.Time) {
	seconds, seats := now.Sub(d.last).Seconds(), float64(d.seats)
	d.sum += seats * seconds
	d.squares += seats * seats * seconds
	d.last = now
}

func (d *demand) set(now time.Time, seats int) {
	d.advance(now)
	d.seats, d.max = seats, max(d.max, seats)
}

// take returns the demand since the last call, and begins a new period.
func (d *demand) take(now time.Time) Demand {
	d.advance(now)
	taken := Demand{Period: now.Sub(d.since), Max: d.max}
	if seconds := taken.Period.Seconds(); seconds > 0 {
		taken.Average = d.sum / seconds
		taken.Deviation = math.Sqrt(max(d.squares/seconds-taken.Average*taken.Average, 0))
	}
	*d = demand{since: now, last: now, seats: d.seats, max: d.seats}
	return taken
}
