package share

import "slices"

// Range is what one of several parties gets: at least Low, at most High, and as near to Target as is fair.
type Range struct{ Low, High, Target float64 }

// leastTarget stands for smaller targets, so that every party has a part of what is left.
const leastTarget = 0.001

// at returns what the party gets at a fraction of its target.
func (r Range) at(fraction float64) float64 {
	return max(r.Low, min(r.High, fraction*max(r.Target, leastTarget)))
}

// Allocate divides total: every party gets the same fraction of its target, unless a bound keeps it from that. If the
// bounds allow no such division, the parties get their lower bounds, or their upper bounds. It returns the fraction.
func Allocate(total float64, parties []Range) (all []float64, fraction float64) {
	sum := func(fraction float64) (sum float64) {
		for _, r := range parties {
			sum += r.at(fraction)
		}
		return sum
	}
	// The sum grows with the fraction, in straight lines between those at which a party meets a bound.
	var bends []float64
	for _, r := range parties {
		target := max(r.Target, leastTarget)
		bends = append(bends, r.Low/target, r.High/target)
	}
	slices.Sort(bends)
	for i, bend := range bends {
		fraction = bend
		above := sum(bend)
		if above < total {
			continue
		}
		if i > 0 {
			before := bends[i-1]
			if below := sum(before); above > below {
				fraction = before + (bend-before)*max(0, total-below)/(above-below)
			}
		}
		break
	}
	for _, r := range parties {
		all = append(all, r.at(fraction))
	}
	return all, fraction
}
