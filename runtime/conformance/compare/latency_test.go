package main

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestPercentile: of a hundred times, all but one are at most the percentile 0.99; of fewer, all are.
func TestPercentile(t *testing.T) {
	for _, test := range []struct {
		n, want int // milliseconds
	}{{1, 1}, {50, 50}, {99, 99}, {100, 99}, {200, 198}, {1000, 990}} {
		times := make([]time.Duration, test.n)
		for i, at := range rand.New(rand.NewPCG(1, 2)).Perm(test.n) {
			times[at] = time.Duration(i+1) * time.Millisecond
		}
		if got := percentile(times, 0.99); got != time.Duration(test.want)*time.Millisecond {
			t.Errorf("of %d: %s", test.n, got)
		}
	}
}
