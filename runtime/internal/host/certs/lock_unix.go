//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package certs

import (
	"errors"
	"os"
	"syscall"
)

// lock waits until no other process has a file locked, and locks it until it is closed.
func lock(file *os.File) error {
	for {
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
