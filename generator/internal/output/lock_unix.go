//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package output

import (
	"errors"
	"os"
	"syscall"
)

// lockFile waits until no other process has the file locked. The lock ends with the file's closing, or the process.
func lockFile(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// removeLocked removes a file that is locked, before anybody else can have the lock, and closes it.
func removeLocked(f *os.File) error { return errors.Join(os.Remove(f.Name()), f.Close()) }
