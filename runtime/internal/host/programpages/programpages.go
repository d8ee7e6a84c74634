// Package programpages lets the kernel take back the pages of the program that only its start needed. A program of 60
// MB has read most of them once it serves: the code that makes schemas, CEL environments and metrics, and the tables
// that the Go runtime keeps about it. The kernel counts them as the process's until it is short of memory.
//
// It imports nothing of ours.
package programpages

import (
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// smallHeap is the largest heap, in bytes, that is collected for the sake of a small server's memory. Go gives back
// free parts of a larger one little by little, without a pause that requests would feel.
const smallHeap = 64 << 20

// Release takes the pages of the program's file out of the process's memory, after what is free in a small heap. The
// pages stay in the kernel's cache of files, from which one that is needed again comes back when it is touched. It does
// that on Linux, where /proc is mounted.
func Release() error {
	var memory runtime.MemStats
	if runtime.ReadMemStats(&memory); memory.HeapSys <= smallHeap {
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
