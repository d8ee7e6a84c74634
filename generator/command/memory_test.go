package command

import (
	"runtime"
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

func TestLimitYields(t *testing.T) {
	for live, want := range map[uint64]bool{
		0: false, 145 << 20: false, 170 << 20: false, 190 << 20: true, 1 << 40: true,
	} {
		if leavesNoRoom(live) != want {
			t.Errorf("with %d bytes in use the limit is to be lifted: %t", live, want)
		}
	}
}

func TestAfterCollection(t *testing.T) {
	calls := make(chan int)
	n := 0
	afterCollection(func() bool {
		n++
		calls <- n
		return n == 2
	})
	for want := 1; want <= 2; want++ {
		if got := collectUntil(calls); got != want {
			t.Errorf("call %d, want %d", got, want)
		}
	}
}

// collectUntil runs the garbage collector until a call is reported. One collection is not enough: afterCollection
// registers its next call only after the one before has returned.
func collectUntil(calls <-chan int) int {
	for {
		runtime.GC()
		select {
		case call := <-calls:
			return call
		default:
			runtime.Gosched()
		}
	}
}
