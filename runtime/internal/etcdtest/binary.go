package etcdtest

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"go.etcd.io/etcd/api/v3/version"
)

// source is the binary's.
//
//go:embed etcd/main.go
var source []byte

var build = sync.OnceValues(buildBinary)

func binary(t testing.TB) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// buildBinary builds etcd into the user's cache, where later runs find it: linking takes seconds. The name has a hash
// of all inputs of the build.
func buildBinary() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "apigen", "etcdtest")
	sum := sha256.Sum256(source)
	name := fmt.Sprintf("etcd-%s-%s-%s-%s-%x", version.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH,
		sum[:4])
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
	command := exec.Command("go", "build", "-ldflags=-s -w", "-o", built,
		"apigen.dev/runtime/internal/etcdtest/etcd")
	command.Dir = moduleDirectory()
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building etcd: %w\n%s", err, output)
	}
	if err := os.Rename(built, path); err != nil {
		if _, there := os.Stat(path); there == nil {
			return path, nil // another test was quicker, and runs it
		}
		return "", fmt.Errorf("building etcd: %w", err)
	}
	return path, nil
}

// moduleDirectory returns the directory of this file's module, which requires etcd's modules; "" if it is absent.
func moduleDirectory() string {
	_, file, _, ok := runtime.Caller(0)
	if _, err := os.Stat(file); !ok || err != nil {
		return ""
	}
	return filepath.Dir(file)
}
