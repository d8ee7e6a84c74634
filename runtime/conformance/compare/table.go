package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
)

// header returns the first lines of the table.
func (p pair) header() string {
	return fmt.Sprintf("| request | %s | %s | ratio | range |\n| --- | --- | --- | --- | --- |\n", p.servers[0].title,
		p.servers[1].title)
}

// measurement has the figures of the two servers, round by round.
type measurement [][2]float64

// line returns a line of the table.
func (m measurement) line(name string, format func(float64) string) string {
	var columns [2][]float64
	ratios := make([]float64, len(m))
	for i, round := range m {
		columns[0], columns[1] = append(columns[0], round[0]), append(columns[1], round[1])
		ratios[i] = round[1] / round[0]
	}
	first, second := median(columns[0]), median(columns[1])
	low, high := ratio(slices.Min(ratios)), ratio(slices.Max(ratios))
	spread := low + " to " + high
	if low == high {
		spread = low
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s |", name, format(first), format(second), ratio(second/first), spread)
}

// median returns the middle of the values, or the mean of the two in the middle.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// ratio writes a ratio below 1 as a fraction: 1/12, 1/2.5.
func ratio(r float64) string {
	switch {
	case r >= 2:
		return fmt.Sprintf("%.1f", r)
	case r > 0.66:
		return fmt.Sprintf("%.2f", r)
	case r <= 0 || math.IsNaN(r):
		return "?" // less than /proc can tell
	case r < 0.105:
		return fmt.Sprintf("1/%.0f", 1/r)
	}
	return "1/" + strings.TrimSuffix(fmt.Sprintf("%.1f", 1/r), ".0")
}

// duration writes seconds.
func duration(seconds float64) string {
	switch ms := seconds * 1000; {
	case ms >= 100:
		return fmt.Sprintf("%.0f ms", ms)
	case ms >= 10:
		return fmt.Sprintf("%.1f ms", ms)
	case ms >= 0.1:
		return fmt.Sprintf("%.2f ms", ms)
	default:
		return fmt.Sprintf("%.0f µs", ms*1000)
	}
}

func kilobytes(size float64) string { return fmt.Sprintf("%.1f kB", size/1000) }

// summary says what was measured.
func (o options) summary(size int) string {
	return fmt.Sprintf("%d objects of %s, rounds: %d, clients: %d, watchers: %d, %d %% of the operations", o.objects,
		kilobytes(float64(size)), o.rounds, o.clients, o.watchers, o.scale)
}

// machine says where.
func machine() string {
	load := "unknown"
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		load = strings.Join(strings.Fields(string(text))[:3], " ")
	}
	return fmt.Sprintf("%d CPUs, %s %s/%s, load %s", runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH,
		load)
}
