package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// softLimit is what a build of all of k8s.io/api, the largest API there is, gets by with at no cost that can be measured; with
// Go's usual pace of collection it takes a sixth more memory than that. Smaller ones never come near.
const softLimit = 224 << 20

// limitMemory lets garbage be collected sooner where memory comes near the limit, unless the user set Go's own variables.
func limitMemory(getenv func(string) string) {
	if getenv("GOMEMLIMIT") == "" && getenv("GOGC") == "" {
		debug.SetMemoryLimit(softLimit)
		afterCollection(yield)
	}
}

// afterCollection calls a function after each collection of garbage, until it says that it has seen enough.
func afterCollection(enough func() bool) {
	runtime.AddCleanup(new([16]byte), func(enough func() bool) {
		if !enough() {
			afterCollection(enough)
		}
	}, enough)
}

// yield lifts the limit where what is in use leaves too little room below it: a larger input would be collected over and over,
// for twice the CPU of the build. It tells whether it did.
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

// leavesNoRoom tells whether less than a fifth of the limit is left above what is in use.
func leavesNoRoom(live uint64) bool { return live > softLimit/5*4 }
