package etcdtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"go.etcd.io/etcd/api/v3/version"
)

// source is the package of the binary.
const source = "apigen.dev/runtime/storage/etcd/etcdtest/etcd"

var build = sync.OnceValues(buildBinary)

// binary returns the path of the etcd binary.
func binary(t testing.TB) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// buildBinary builds etcd into the user's cache, where other runs find it: linking takes seconds. The name holds what
// the binary depends on.
func buildBinary() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "apigen", "etcdtest")
	name := fmt.Sprintf("etcd-%s-%s-%s-%s", version.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("building etcd: %w", err)
	}
	unfinished, err := os.MkdirTemp(dir, "build-")
	if err != nil {
		return "", fmt.Errorf("building etcd: %w", err)
	}
	defer os.RemoveAll(unfinished)
	built := filepath.Join(unfinished, name)
	if output, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", built, source).CombinedOutput(); err != nil {
		return "", fmt.Errorf("building etcd: %w\n%s", err, output)
	}
	if err := os.Rename(built, path); err != nil {
		return "", fmt.Errorf("building etcd: %w", err)
	}
	return path, nil
}
