package queue

import (
	"fmt"
	"math"
	"time"
)

// Work is an amount of work: seats multiplied by time, in hundred-millionths of a seat for a second. Virtual times are
// Work, too. They wrap around after years; so two of them are compared by the sign of their difference.
type Work int64

// workPerSecond is the Work of one seat in one second.
const workPerSecond = 1e8

// maxWork is more than any difference of two virtual times.
const maxWork = Work(math.MaxInt64)

// workOf returns the work of a number of seats during a time.
func workOf(seats float64, d time.Duration) Work {
	return Work(math.Round(seats * float64(d) / (float64(time.Second) / workPerSecond)))
}

// over returns how long a number of seats takes for the work.
func (w Work) over(seats int) time.Duration {
	return time.Duration(float64(w) / float64(seats) * (float64(time.Second) / workPerSecond))
}

// SeatSeconds returns the work as a number, which may have lost the last digits.
func (w Work) SeatSeconds() float64 { return float64(w) / workPerSecond }

// String returns the work in seat-seconds, in the format of kube-apiserver's dumps: 1.50000000ss.
func (w Work) String() string {
	sign := ""
	if w < 0 {
		sign, w = "-", -w
	}
	return fmt.Sprintf("%s%d.%08dss", sign, w/workPerSecond, w%workPerSecond)
}

// Estimate is what a request is expected to cost. While it executes it has Seats seats; after its answer, Final seats
// for Latency more, which its client doesn't wait for. For all of this time it occupies the larger number of the two.
type Estimate struct {
	Seats, Final int
	Latency      time.Duration
}

// Max returns the number of seats that the request occupies.
func (e Estimate) Max() int { return max(e.Seats, e.Final) }
