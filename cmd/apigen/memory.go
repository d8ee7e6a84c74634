package main

import "runtime/debug"

// softLimit is what a build of all of k8s.io/api, the largest API there is, gets by with for a tenth more CPU; with Go's
// usual pace of collection it takes a fifth more memory than that. Smaller ones never come near.
const softLimit = 224 << 20

// limitMemory lets garbage be collected sooner where memory comes near the limit, unless the user set Go's own variables.
func limitMemory(getenv func(string) string) {
	if getenv("GOMEMLIMIT") == "" && getenv("GOGC") == "" {
		debug.SetMemoryLimit(softLimit)
	}
}
