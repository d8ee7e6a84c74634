package loadtest

import (
	"os"
	"path/filepath"
	"testing"
)

// TestStableDir: a folder has the same path each time, is empty whatever was left in it, and is gone after its test;
// who wants it while another has it waits.
func TestStableDir(t *testing.T) {
	var paths []string
	use := func(t *testing.T) {
		dir := StableDir(t, "loadtest")
		paths = append(paths, dir)
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("%d entries, %v", len(entries), err)
		}
		if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("first", use)
	if _, err := os.Stat(paths[0]); !os.IsNotExist(err) {
		t.Errorf("the folder stays: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(paths[0], "left"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Run("together", func(t *testing.T) { // paths is written under the lock of the folder
		for _, name := range []string{"a", "b", "c"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				use(t)
			})
		}
	})
	if len(paths) != 4 || paths[0] != paths[1] || paths[1] != paths[2] || paths[2] != paths[3] {
		t.Errorf("the folders are %q", paths)
	}
}
