package embedded

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestNobodyElseCanReachIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	opened, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if server := opened.(*backend).server; len(server.Clients) != 0 || len(server.Peers) != 0 {
		t.Errorf("etcd listens for %d clients and %d peers", len(server.Clients), len(server.Peers))
	}
	if runtime.GOOS == "windows" {
		return // its permissions are inherited
	}
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("%s has mode %s", dir, info.Mode())
	}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&fs.ModeSocket != 0 {
			t.Errorf("there is a socket: %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestDirectoryThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(context.Background(), filepath.Join(file, "data"))
	if err == nil || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}
