package main

import (
	"strings"
	"testing"

	"golang.org/x/tools/benchmark/parse"
)

// TestVerdict: allocations beyond 2 % fail, and a time that is longer in each round. One that is longer in some rounds
// is noise, as is one allocation of many. A benchmark of one commit alone is not compared.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after []string // time and allocations of each round
		want          string
	}{
		{"the same", []string{"100 5", "110 5"}, []string{"101 5", "111 5"}, ""},
		{"slower", []string{"100 5", "100 5", "100 5"}, []string{"106 5", "107 5", "103 5"}, "SLOWER"},
		{"noise", []string{"100 5", "100 5", "100 5"}, []string{"130 5", "107 5", "99 5"}, ""},
		{"a little slower", []string{"100 5", "100 5"}, []string{"103 5", "104 5"}, ""},
		{"faster, with more allocations", []string{"100 0"}, []string{"50 1"}, "MORE ALLOCATIONS"},
		{"one allocation more of many", []string{"100 1000"}, []string{"100 1001"}, ""},
		{"of the rounds, the smallest count", []string{"100 5", "100 9"}, []string{"100 7", "100 5"}, ""},
	} {
		var all results
		for side, rounds := range [][]string{c.before, c.after} {
			for _, round := range rounds {
				time, allocs, _ := strings.Cut(round, " ")
				text := "BenchmarkA-2 100 " + time + " ns/op 0 B/op " + allocs + " allocs/op\n"
				if side == 0 {
					text += "BenchmarkGone-2 100 1 ns/op 0 B/op 1 allocs/op\n"
				}
				set, err := parse.ParseSet(strings.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				all.add(side, set)
			}
		}
		compared := all.compared()
		if len(compared) != 1 || compared[0].name != "BenchmarkA-2" {
			t.Fatalf("%s: %d benchmarks are compared", c.name, len(compared))
		}
		if got := compared[0].verdict(); got != c.want {
			t.Errorf("%s: %q, want %q: %s", c.name, got, c.want, compared[0].row("folder"))
		}
	}
}
