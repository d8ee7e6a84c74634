// Package footprint keeps the memory of a small server small: it gives back what only the start needed. A program of 60
// MB has read most of its pages once it serves: the code that makes schemas, CEL environments and metrics, and the
// tables that the Go runtime keeps about it. The kernel counts them as the process's until it is short of memory. The
// start also allocates eight times the bytes that stay, which lie between the others: Go moves no object.
//
// It imports nothing of ours.
package footprint

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
)

// smallHeap is the largest heap, in bytes, that is collected for the sake of a small server's memory. Go gives back
// free parts of a larger one little by little, without a pause that requests would feel.
const smallHeap = 64 << 20

// startGrowth is by how many percent the heap grows in a start until it is collected. 100 is Go's default.
const startGrowth = 30

// CollectOften makes Go collect the heap when it has grown by less than usual, until end is called, so that what stays
// lies close together. The environment variable GOGC overrides it. It holds for the process: don't call it twice at a
// time.
func CollectOften() (end func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	usual := debug.SetGCPercent(startGrowth)
	return sync.OnceFunc(func() { debug.SetGCPercent(usual) })
}

// small reports whether the heap is small, with what is free in it.
func small() bool {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return memory.HeapSys-memory.HeapReleased <= smallHeap
}

// Release takes the pages of the program's file out of the process's memory, after what is free in a small heap. The
// pages stay in the kernel's cache of files, from which one that is needed again comes back when it is touched. It does
// that on Linux, where /proc is mounted.
func Release() error {
	if small() {
		debug.FreeOSMemory()
	}
	return releaseFile()
}

// span is a part of the address space.
type span struct{ start, length uintptr }

// unchanged returns the parts of the address space that show a file as it is, and that the process may not write to. It
// reads the format of /proc/PID/smaps. A part with a page of its own, such as a breakpoint or an address that the
// linker filled in, isn't as the file is.
func unchanged(smaps, file string) (all []span) {
	var at span
	clean := false
	for line := range strings.Lines(smaps) {
		fields := strings.Fields(line)
		switch {
		case len(fields) < 2:
		case !strings.HasSuffix(fields[0], ":"): // the first line of a part
			at, clean = span{}, len(fields) == 6 && fields[5] == file && !strings.Contains(fields[1], "w")
			if clean {
				at, clean = spanOf(fields[0])
			}
		case clean && fields[0] == "Anonymous:" && fields[1] == "0":
			all = append(all, at)
		}
	}
	return all
}

// spanOf reads the addresses of a part: 00400000-01a2b000.
func spanOf(addresses string) (span, bool) {
	first, behind, _ := strings.Cut(addresses, "-")
	start, err := strconv.ParseUint(first, 16, strconv.IntSize)
	if err != nil {
		return span{}, false
	}
	end, err := strconv.ParseUint(behind, 16, strconv.IntSize)
	return span{uintptr(start), uintptr(end - start)}, err == nil && end > start
}
