package main

import (
	"fmt"
	"slices"

	"golang.org/x/tools/benchmark/parse"
)

// result is what a benchmark took: in each round, at the base and at this checkout.
type result struct {
	name   string
	times  [2][]float64 // in ns
	allocs [2][]uint64
}

// results are in the order in which their benchmarks ran.
type results []*result

func (all *results) add(side int, set parse.Set) {
	var ran []*parse.Benchmark
	for _, runs := range set {
		ran = append(ran, runs...)
	}
	slices.SortFunc(ran, func(a, b *parse.Benchmark) int { return a.Ord - b.Ord })
	for _, b := range ran {
		i := slices.IndexFunc(*all, func(r *result) bool { return r.name == b.Name })
		if i < 0 {
			i = len(*all)
			*all = append(*all, &result{name: b.Name})
		}
		r := (*all)[i]
		r.times[side], r.allocs[side] = append(r.times[side], b.NsPerOp), append(r.allocs[side], b.AllocsPerOp)
	}
}

// compared returns the results of benchmarks that both commits have.
func (all results) compared() []*result {
	return slices.DeleteFunc(all, func(r *result) bool { return len(r.times[0]) == 0 || len(r.times[1]) == 0 })
}

// ratios returns the sorted ratios of the rounds' times.
func (r *result) ratios() (ratios []float64) {
	for i := range min(len(r.times[0]), len(r.times[1])) {
		ratios = append(ratios, r.times[1][i]/r.times[0][i])
	}
	slices.Sort(ratios)
	return ratios
}

func median(sorted []float64) float64 {
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// verdict returns why the benchmark fails, or "".
func (r *result) verdict() string {
	before, after := slices.Min(r.allocs[0]), slices.Min(r.allocs[1])
	ratios := r.ratios()
	switch {
	case float64(after) > 1.02*float64(before)+0.5:
		return "MORE ALLOCATIONS"
	case median(ratios) > 1.05 && ratios[0] > 1.02:
		return "SLOWER"
	}
	return ""
}

func (r *result) row(folder string) string {
	ratios := r.ratios()
	return fmt.Sprintf("%-60s time %.2f (%.2f to %.2f)  allocations %d -> %d", folder+" "+r.name, median(ratios),
		ratios[0], ratios[len(ratios)-1], slices.Min(r.allocs[0]), slices.Min(r.allocs[1]))
}
