package certs

import (
	"os"
	"path/filepath"
	"time"
)

// Change calls do with the authority in a directory, while no other process changes the files there.
func Change(dir string, now func() time.Time, do func(a *Authority) error) error {
	return locked(dir, func() error {
		a, err := OpenAuthority(dir, now)
		if err != nil {
			return err
		}
		return do(a)
	})
}

// locked calls do while no other process that calls locked changes the files of a directory. A directory that can't be
// locked is used without: it is on a file system without locks, or do will say what is wrong with it.
func locked(dir string, do func() error) error {
	file, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return do()
	}
	defer func() { _ = file.Close() }() // this unlocks it; nothing was written
	_ = lock(file)
	return do()
}
