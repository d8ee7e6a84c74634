package queue

import (
	"slices"
	"time"
)

// Dwell measures how long a ratio stays in which range: a histogram of the values at the end of every nanosecond. It
// is not safe for concurrent use.
type Dwell struct {
	bounds []float64
	spent  []time.Duration // one for each bound, and one for what is above the last
	sum    float64
	last   time.Time

	value, of float64
}

// NewDwell returns a Dwell whose ratio is 0 of 1 from now on. bounds are the upper bounds of the ranges, in their
// order.
func NewDwell(now time.Time, bounds []float64) *Dwell {
	return &Dwell{bounds: bounds, spent: make([]time.Duration, len(bounds)+1), last: now, of: 1}
}

// Set changes the number of which the ratio is measured.
func (d *Dwell) Set(now time.Time, value float64) {
	d.advance(now)
	d.value = value
}

// Of changes the number to which the other one is related. It must be above 0.
func (d *Dwell) Of(now time.Time, of float64) {
	d.advance(now)
	d.of = of
}

func (d *Dwell) advance(now time.Time) {
	spent := now.Sub(d.last)
	if spent <= 0 {
		return
	}
	ratio := d.value / d.of
	at, _ := slices.BinarySearch(d.bounds, ratio)
	d.spent[at] += spent
	d.sum += ratio * float64(spent)
	d.last = now
}

// Histogram is a histogram in the form that Prometheus wants: a count for each bound of all that lies below.
type Histogram struct {
	Count   uint64
	Sum     float64
	Buckets map[float64]uint64
}

// Histogram returns what was measured up to now.
func (d *Dwell) Histogram(now time.Time) Histogram {
	d.advance(now)
	h := Histogram{Sum: d.sum, Buckets: make(map[float64]uint64, len(d.bounds))}
	for i, spent := range d.spent {
		h.Count += uint64(spent)
		if i < len(d.bounds) {
			h.Buckets[d.bounds[i]] = h.Count
		}
	}
	return h
}
