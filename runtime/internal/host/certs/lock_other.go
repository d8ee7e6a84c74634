//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package certs

import "os"

// lock does nothing: here, no two processes must change the certificates of a directory at once.
func lock(*os.File) error { return nil }
