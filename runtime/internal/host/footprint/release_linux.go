package footprint

import (
	"os"
	"syscall"
)

// releaseFile takes the pages of the program's file out of the process's memory.
func releaseFile() error {
	file, err := os.Executable()
	if err != nil {
		return err
	}
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return err
	}
	for _, s := range unchanged(string(smaps), file) {
		// syscall.Madvise wants a slice, and the address is none of a Go value.
		if _, _, e := syscall.Syscall(syscall.SYS_MADVISE, s.start, s.length, syscall.MADV_DONTNEED); e != 0 {
			return e
		}
	}
	return nil
}
