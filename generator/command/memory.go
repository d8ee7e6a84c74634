package command

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// softLimit is enough memory to build all of k8s.io/api, the largest API there is, without a measurable cost. Go's
// usual pace of garbage collection would take a sixth more. Smaller APIs never come near the limit.
const softLimit = 224 << 20

// limitMemory makes the garbage collector run sooner near the limit, unless the user set Go's own variables.
func limitMemory(getenv func(string) string) {
	if getenv("GOMEMLIMIT") == "" && getenv("GOGC") == "" {
		debug.SetMemoryLimit(softLimit)
		afterCollection(yield)
	}
}

// afterCollection calls enough after each garbage collection, until it returns true.
func afterCollection(enough func() bool) {
	runtime.AddCleanup(new([16]byte), func(enough func() bool) {
		if !enough() {
			afterCollection(enough)
		}
	}, enough)
}

// yield removes the limit if the memory in use comes near it, and reports whether it did. A larger input would
// otherwise keep the garbage collector running, which doubles the build's CPU time.
func yield() bool {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	lift := leavesNoRoom(sample[0].Value.Uint64())
	if lift {
		debug.SetMemoryLimit(noLimit)
	}
	return lift
}

const noLimit = 1<<63 - 1

func leavesNoRoom(live uint64) bool { return live > softLimit/5*4 }
