package loadtest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// StableDir makes an empty folder for tests that compile what they write into it. The folder has the same path in every
// run, so the go command finds in its cache what it compiled in an earlier one. A test of another process that wants
// the folder of that name waits. The folder is removed when the test has ended.
func StableDir(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("apigen-%s-%d", name, os.Getuid()))
	unlock, err := lockedfile.MutexAt(dir + ".lock").Lock()
	check(t, err)
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
		unlock()
	})
	check(t, os.RemoveAll(dir)) // what a run left that was killed
	check(t, os.Mkdir(dir, 0o755))
	return resolved(dir)
}

// resolved returns the path of a folder without symbolic links, as the go command prints it.
func resolved(dir string) string {
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		return target
	}
	return dir
}
