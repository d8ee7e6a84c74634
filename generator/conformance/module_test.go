package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// modulePath is that of the module in which both are compared.
const modulePath = "example.com/conformance"

// emitted are the files of other generators that apigen's replace.
var emitted = regexp.MustCompile(`^zz_generated\.(deepcopy|conversion|defaults|register)\.go$`)

// newModule makes an empty module with this one's dependencies, apigen itself aside.
func newModule(t testing.TB) string {
	t.Helper()
	return newModuleOf(t, ".")
}

// newModuleOf makes an empty module with the dependencies of one of ours, apigen itself aside.
func newModuleOf(t testing.TB, ours string) string {
	t.Helper()
	dir := t.TempDir()
	mod := regexp.MustCompile(`^module .*`).ReplaceAllString(read(t, filepath.Join(ours, "go.mod")),
		"module "+modulePath)
	mod = regexp.MustCompile(`(?m)^.*apigen\.dev.*\n`).ReplaceAllString(mod, "")
	write(t, filepath.Join(dir, "go.mod"), mod)
	write(t, filepath.Join(dir, "go.sum"), read(t, filepath.Join(ours, "go.sum")))
	return dir
}

// newServerModule makes an empty module that requires apigen and what it requires, so that wiring is emitted, too.
func newServerModule(t testing.TB) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mod := strings.Replace(read(t, filepath.Join(root, "go.mod")), "module apigen.dev\n", "module "+modulePath+"\n", 1)
	mod += "\nrequire apigen.dev v0.0.0\n\nreplace apigen.dev => " + filepath.ToSlash(root) + "\n"
	write(t, filepath.Join(dir, "go.mod"), mod)
	write(t, filepath.Join(dir, "go.sum"), read(t, filepath.Join(root, "go.sum")))
	return dir
}

// moduleDir is the folder with the source of a dependency of this module.
func moduleDir(t testing.TB, path string) string {
	t.Helper()
	return moduleDirOf(t, ".", path)
}

// moduleDirOf is the folder with the source of a dependency of one of our modules. The go command downloads it where
// the module cache doesn't have it: `go list -m` wouldn't.
func moduleDirOf(t testing.TB, ours, path string) string {
	t.Helper()
	out := run(t, ours, "go", "mod", "download", "-json", path)
	var module struct{ Dir string }
	if err := json.Unmarshal([]byte(out), &module); err != nil || module.Dir == "" {
		t.Fatalf("go mod download %s: %v\n%s", path, err, out)
	}
	return module.Dir
}

// copyTree copies the Go files of a tree, tests aside, and rewrites strings in them. Files that skip tells of are left
// out.
func copyTree(t testing.TB, from, to string, skip func(base string) bool, rewrite *strings.Replacer) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		base := filepath.Base(path)
		if !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") || skip(base) {
			return nil
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		write(t, filepath.Join(to, rel), rewrite.Replace(read(t, path)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// copyPackage copies the Go files of one folder, but tests, what emitters of ours write, and methods for protobuf.
func copyPackage(t testing.TB, from, to string, rewrite *strings.Replacer) {
	t.Helper()
	copyFolder(t, from, to, emittedOrProtobuf, rewrite)
}

// copyFolder copies the Go files of one folder, but tests, and what skip tells of.
func copyFolder(t testing.TB, from, to string, skip func(base string) bool, rewrite *strings.Replacer) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(from, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %d files, %v", from, len(names), err)
	}
	for _, name := range names {
		base := filepath.Base(name)
		if !strings.HasSuffix(base, "_test.go") && !skip(base) {
			write(t, filepath.Join(to, base), rewrite.Replace(read(t, name)))
		}
	}
}

// generated are the files that apigen writes in upstream's place, below a directory.
func generated(t testing.TB, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && emitted.MatchString(d.Name()) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// copyTest copies a folder of testdata, tests included.
func copyTest(t testing.TB, name, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(filepath.Join("testdata", name))); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t testing.TB, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run runs a command and returns what it printed.
func run(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = environment(dir)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String()
}

// environment lets the go command complete go.mod, which lost a requirement.
func environment(dir string) []string {
	return append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "PWD="+dir)
}

// goTest runs the module's own tests.
func goTest(t testing.TB, dir string, packages ...string) {
	t.Helper()
	t.Log(run(t, dir, "go", append([]string{"test", "-vet=off"}, packages...)...))
}

// apigen is the command, built once.
func apigen(t testing.TB) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var (
	binDir string
	binary = sync.OnceValues(func() (string, error) {
		path := filepath.Join(binDir, "apigen")
		cmd := exec.CommandContext(context.Background(), "go", "build", "-C", "../..", "-o", path, "./cmd/apigen")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", errors.Join(err, fmt.Errorf("go build ./cmd/apigen: %s", out))
		}
		return path, nil
	})
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "conformance")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binDir = dir
		return m.Run()
	}())
}
