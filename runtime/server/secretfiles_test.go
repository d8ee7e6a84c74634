package server

import (
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestSecretFiles: the directory pki, each key, and the kubeconfigs of a data directory are readable for the server's
// user alone.
func TestSecretFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // its permissions are inherited
	}
	dir := filepath.Join(t.TempDir(), "data")
	start(t, dir).end(t)
	keys := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		switch name := entry.Name(); {
		case entry.IsDir() && name == "pki":
			want = 0o700
		case strings.HasSuffix(name, ".key"):
			keys++
		case !strings.HasSuffix(name, ".kubeconfig"):
			return nil
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", path, info.Mode().Perm(), want)
		}
		return err
	})
	if err != nil || keys < 2 {
		t.Errorf("%d keys, %v", keys, err)
	}
}
