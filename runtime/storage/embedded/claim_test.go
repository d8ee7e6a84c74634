package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"apigen.dev/runtime/storage"
)

// Whoever claims a directory has it alone, also where others give it back as if it had never been claimed.
func TestClaimIsExclusive(t *testing.T) {
	dir := t.TempDir()
	var holders, claims atomic.Int64
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 500 {
				c, err := take(dir)
				if errors.Is(err, storage.ErrInUse) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d hold the directory", n)
				}
				claims.Add(1)
				holders.Add(-1)
				if err := c.undo(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if claims.Load() == 0 {
		t.Error("nobody ever held it")
	}
}

// A claim that is undone leaves a directory as it was, and one that is closed what it needed.
func TestClaimUndone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	for _, end := range []struct {
		end   func(*claim) error
		exist bool
	}{{(*claim).undo, false}, {(*claim).Close, true}, {(*claim).undo, true}} {
		c, err := take(dir)
		if err == nil {
			err = end.end(c)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "lock")); (err == nil) != end.exist {
			t.Errorf("the lock: %v, want it there: %t", err, end.exist)
		}
		if isAbsent(dir) == end.exist {
			t.Errorf("the directory is absent: %t", !end.exist)
		}
	}
}
