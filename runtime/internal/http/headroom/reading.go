package headroom

import "runtime/metrics"

// Reading is what the Go runtime says about memory.
type Reading struct {
	// Used is what a garbage collection would leave in use, in bytes: what the last one found alive, stacks, and the
	// runtime's own. Garbage, and free parts of spans, are not in it.
	Used int64
	// Collections is how many there were.
	Collections uint64
}

// readRuntime returns a function that reads. One goroutine at a time may call it.
func readRuntime() func() Reading {
	samples := []metrics.Sample{
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	return func() Reading {
		metrics.Read(samples)
		used := int64(samples[1].Value.Uint64() + samples[2].Value.Uint64())
		for _, reusable := range samples[3:] {
			used -= int64(reusable.Value.Uint64())
		}
		return Reading{Used: used, Collections: samples[0].Value.Uint64()}
	}
}
