package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"apigen.dev/runtime/storage"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// claim is the right to a data directory, which one process has at a time. It is a lock of our own, since etcd would
// wait for that of its database for ever. The system releases the lock when the process ends.
type claim struct {
	file *fileutil.LockedFile
	dir  string
	// madeDir and madeFile say which of the two this claim created.
	madeDir, madeFile bool
}

// take creates the directory, for this user alone, and claims it. It fails at once where another process has it.
func take(dir string) (*claim, error) {
	c := &claim{dir: dir, madeDir: isAbsent(dir)}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	for {
		c.madeFile = isAbsent(c.path())
		err := c.lock()
		switch {
		case errors.Is(err, errReturned):
			continue
		case errors.Is(err, fileutil.ErrLocked):
			return nil, fmt.Errorf("data directory %s is %w", dir, storage.ErrInUse)
		case err != nil:
			return nil, fmt.Errorf("data directory %s: %w", dir, err)
		}
		return c, nil
	}
}

func isAbsent(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist)
}

func (c *claim) path() string { return filepath.Join(c.dir, "lock") }

// errReturned: the process that had the lock has removed its file meanwhile, so that the lock protects nothing.
var errReturned = errors.New("the lock was given back")

func (c *claim) lock() error {
	file, err := fileutil.TryLockFile(c.path(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	locked, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	there, err := os.Lstat(c.path())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return errors.Join(err, file.Close())
	}
	if err != nil || !os.SameFile(locked, there) {
		return errors.Join(errReturned, file.Close())
	}
	c.file = file
	return nil
}

func (c *claim) Close() error { return c.file.Close() }

// undo releases the directory, and removes the files that were created for the claim.
func (c *claim) undo() error {
	var errs []error
	if c.madeFile {
		errs = append(errs, os.Remove(c.path()))
	}
	errs = append(errs, c.file.Close())
	if c.madeDir && c.madeFile {
		_ = os.Remove(c.dir) // succeeds if it is empty
	}
	return errors.Join(errs...)
}
