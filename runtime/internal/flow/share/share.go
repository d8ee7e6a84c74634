// Package share divides the seats of a server among its priority levels: first by the shares of their configuration,
// and then, every ten seconds, by what they could use, so that levels lend seats that they don't need. The rules are
// those of kube-apiserver (KEP-1040). The functions are pure. The package imports nothing of ours.
package share

import "math"

// Level is what is configured for a level.
type Level struct {
	// Shares are the level's part of the sum of all shares.
	Shares int
	// Lendable is how much of its nominal seats the level lends at most, in percent.
	Lendable int
	// Borrowing is how much more than its nominal seats the level may have, in percent of these; nil means no bound.
	Borrowing *int
	// Exempt levels are not limited. What they use is counted against the others where seats are short.
	Exempt bool
}

// Limits are numbers of seats that follow from the configuration.
type Limits struct{ Nominal, Min, Max int }

// Divide returns the limits of each level of a server with a number of seats. The nominal limits are rounded up, so
// that their sum may be a little more than seats. Unlike in kube-apiserver, rounding lets no level lend its last seat,
// for which its first request would have to wait until the next division.
func Divide(seats int, levels []Level) []Limits {
	sum := 0
	for _, l := range levels {
		sum += l.Shares
	}
	all := make([]Limits, len(levels))
	for i, l := range levels {
		nominal := 0
		if sum > 0 {
			nominal = int(math.Ceil(float64(seats) * float64(l.Shares) / float64(sum)))
		}
		borrowing := seats
		if l.Borrowing != nil {
			borrowing = percent(nominal, *l.Borrowing)
		}
		least := nominal - percent(nominal, l.Lendable)
		if l.Lendable < 100 {
			least = max(least, min(1, nominal))
		}
		all[i] = Limits{Nominal: nominal, Min: least, Max: nominal + borrowing}
	}
	return all
}

func percent(of, percents int) int { return int(math.Round(float64(of) * float64(percents) / 100)) }

// Initial is the number of seats of a new level, of whose demand nothing is known: half of what it lends is lent.
func (l Limits) Initial() int { return l.Nominal - (l.Nominal-l.Min)/2 }

// Demand is how many seats a level could use.
type Demand struct {
	// HighWatermark, Average and Deviation are those of the last period, Smoothed is over all periods.
	HighWatermark                int
	Average, Deviation, Smoothed float64
}

// smoothing is how much of the smoothed demand remains after a period of ten seconds: half of it after five minutes.
const smoothing = 0.977

// Next returns the demand after another period. The smoothed demand rises at once, and falls slowly. seconds is the
// length of the period; of one of length 0, only the high watermark counts.
func (d Demand) Next(seconds, average, deviation float64, highWatermark int) Demand {
	d.HighWatermark = highWatermark
	if seconds <= 0 {
		return d
	}
	d.Average, d.Deviation = average, deviation
	envelope := average + deviation
	d.Smoothed = max(envelope, smoothing*d.Smoothed+(1-smoothing)*envelope)
	return d
}

// Claim is what a level has, and what it could use.
type Claim struct {
	Limits
	Demand
	Exempt bool
}

// atLeast is the number of seats that the level gets if possible: what it used at most in the last period, within its
// nominal seats; never less than its minimum.
func (c Claim) atLeast() int {
	if c.Exempt {
		return max(c.Min, c.HighWatermark)
	}
	return max(c.Min, min(c.Nominal, c.HighWatermark))
}

// Target is the number of seats that the level should have if there were enough for all.
func (c Claim) Target() float64 {
	if c.Exempt {
		return float64(c.atLeast())
	}
	return max(float64(c.atLeast()), c.Smoothed)
}

// Borrow returns the number of seats of each level for the next period, and the fraction of its target that each level
// gets that runs into no bound; 0 if seats are too short for that.
func Borrow(claims []Claim) (seats []int, fraction float64) {
	total, lowest, wanted, exempt := 0, 0, 0, 0
	var bounds []Range
	for _, c := range claims {
		total += c.Nominal
		if c.Exempt {
			exempt += c.atLeast()
			continue
		}
		lowest += c.Min
		wanted += c.atLeast()
		bounds = append(bounds, Range{float64(c.atLeast()), float64(c.Max), c.Target()})
	}
	var fair []float64
	left := total - exempt
	if left > wanted {
		fair, fraction = Allocate(float64(total), bounds)
	}
	for _, c := range claims {
		n := c.Min
		switch {
		case c.Exempt:
			n = c.atLeast()
		case left > wanted:
			n, fair = int(math.Round(fair[0])), fair[1:]
		case left > lowest: // all levels get the same part of what is between their minimum and what they want
			part := float64(left-lowest) / float64(wanted-lowest)
			n += int(math.Round(part * float64(c.atLeast()-c.Min)))
		}
		seats = append(seats, n)
	}
	return seats, fraction
}
