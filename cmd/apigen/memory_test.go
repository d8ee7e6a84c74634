package main

import (
	"runtime/debug"
	"testing"
)

func TestLimitMemory(t *testing.T) {
	const before = 1 << 40
	old := debug.SetMemoryLimit(before)
	defer debug.SetMemoryLimit(old)
	for set, want := range map[string]int64{"GOMEMLIMIT": before, "GOGC": before, "PATH": softLimit} {
		limitMemory(func(name string) string {
			if name == set {
				return "100"
			}
			return ""
		})
		if got := debug.SetMemoryLimit(before); got != want {
			t.Errorf("with %s set the limit is %d, want %d", set, got, want)
		}
	}
}
