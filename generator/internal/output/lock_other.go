//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package output

import (
	"errors"
	"os"
)

// lockFile does nothing here: two runs that write at once are the user's to avoid.
func lockFile(*os.File) error { return nil }

// removeLocked closes a file and removes it, for one that is open can't be removed here.
func removeLocked(f *os.File) error { return errors.Join(f.Close(), os.Remove(f.Name())) }
