// Package loadtest makes programs from text for the tests of emitters: a module in a temporary folder, loaded for real.
// The module can import what apigen's own module requires, without a network.
package loadtest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"apigen.dev/generator/internal/load"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/program"
)

// Module is the path of the module that the files are put into, unless they bring a go.mod of their own.
const Module = "example.com/test"

// Owned tells the files that all emitters together write, for loads without a list of emitters.
func Owned(base string) bool {
	return strings.HasPrefix(base, "zz_generated.") && strings.HasSuffix(base, ".go") &&
		base != "zz_generated.model_name.go" &&
		base != "zz_generated.prerelease-lifecycle.go"
}

// Imports are the packages that generated code imports, for loads without a list of emitters.
var imports = []string{
	"k8s.io/apimachinery/pkg/apis/meta/v1",
	"k8s.io/apimachinery/pkg/runtime",
	"k8s.io/apimachinery/pkg/runtime/schema",
	"k8s.io/apimachinery/pkg/conversion",
	"k8s.io/apimachinery/pkg/api/resource",
}

// Listings are shared by all loads of a test's process: most of their time went into the go command's answer about
// the same dependencies.
var Listings = load.NewListings(checkout())

// Env returns the environment for go commands of tests: without a network and a workspace, and with further flags.
func Env(flags ...string) []string {
	return append(os.Environ(), "GOPROXY=off", "GOWORK=off", Flags(flags...))
}

// Flags returns the variable GOFLAGS that adds flags to those of the tests' own build. Tests that leave those out make
// the go command compile all dependencies once more.
func Flags(flags ...string) string {
	return "GOFLAGS=" + strings.TrimSpace(os.Getenv("GOFLAGS")+" "+strings.Join(flags, " "))
}

// Program loads the files of a txtar archive as a module and returns the model. Faults in the input fail the test.
func Program(t testing.TB, archive string) *model.Program {
	t.Helper()
	return Load(t, Dir(t, archive)).Program
}

// Load loads all packages of the module in a folder. Faults in the input fail the test.
func Load(t testing.TB, dir string, patterns ...string) *program.Result {
	t.Helper()
	res, err := Try(dir, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Try loads packages of the module in a folder, ./... where no patterns are given.
func Try(dir string, patterns ...string) (*program.Result, error) {
	return program.Read(context.Background(), program.Options{Options: load.Options{
		Dir: dir, Patterns: patterns, Owns: Owned, Imports: imports,
		Env: Env(), Listings: Listings,
	}})
}

// Dir writes the files of a txtar archive into a temporary module and returns its folder. Modules in folders of it,
// which have a go.mod, are other modules that it requires.
func Dir(t testing.TB, archive string) string {
	t.Helper()
	return Unpack(t, resolved(t.TempDir()), archive)
}

// Unpack does what Dir does in an empty folder, and returns the folder.
func Unpack(t testing.TB, dir, archive string) string {
	t.Helper()
	check(t, txtar.Write(txtar.Parse([]byte(archive)), dir))
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		WriteModule(t, dir, Module)
		requireOthers(t, dir, archive)
	}
	return dir
}

// requireOthers makes the module in the folder require those that the archive has below it.
func requireOthers(t testing.TB, dir, archive string) {
	name := filepath.Join(dir, "go.mod")
	text := read(t, name)
	for _, f := range txtar.Parse([]byte(archive)).Files {
		if path.Base(f.Name) != "go.mod" {
			continue
		}
		module := strings.TrimPrefix(string(modulePattern.Find(f.Data)), "module ")
		text = fmt.Appendf(text, "\nrequire %s v0.0.0\n\nreplace %s => ./%s\n", module, module, path.Dir(f.Name))
	}
	check(t, os.WriteFile(name, text, 0o644))
}

var modulePattern = regexp.MustCompile(`(?m)^module .*$`)

// WriteModule writes a go.mod and go.sum for a module of that path into a folder. It requires what apigen's own module
// does, in the same versions, and apigen itself, from its checkout. All of that is in the module cache then.
func WriteModule(t testing.TB, dir, module string) {
	t.Helper()
	root := checkout()
	check(t, fillCache())
	text := modulePattern.ReplaceAllString(string(read(t, filepath.Join(root, "go.mod"))), "module "+module)
	text += "\nrequire apigen.dev v0.0.0\n\nreplace apigen.dev => " + filepath.ToSlash(root) + "\n"
	check(t, os.MkdirAll(dir, 0o755))
	check(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o644))
	check(t, os.WriteFile(filepath.Join(dir, "go.sum"), read(t, filepath.Join(root, "go.sum")), 0o644))
}

// fillCache downloads, once in a process, what apigen's own module requires, and the go.mod of every module in its
// graph, which the go command reads before it says that no module has a package. Tests load their modules with
// GOPROXY=off, so what the go command fetched for the tests' own packages isn't enough.
var fillCache = sync.OnceValue(func() error {
	for _, args := range [][]string{{"mod", "download"}, {"list", "-m", "all"}} {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = checkout(), append(os.Environ(), "GOWORK=off", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go %s in %s: %w\n%s", strings.Join(args, " "), cmd.Dir, err, out)
		}
	}
	return nil
})

// checkout returns the folder of apigen's own module.
func checkout() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		panic("loadtest needs the sources of apigen: build the test without -trimpath")
	}
	return filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(file))))
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	check(t, err)
	return data
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ModuleDir returns the folder of a module of Kubernetes in the module cache, in the version of apigen's own
// apimachinery. The go command fetches it where the cache doesn't have it; the test fails where that can't be done.
func ModuleDir(t testing.TB, module string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^\s*k8s\.io/apimachinery (\S+)`).FindSubmatch(
		read(t, filepath.Join(checkout(), "go.mod")))
	if m == nil {
		t.Fatal("apigen's go.mod doesn't require k8s.io/apimachinery")
	}
	cmd := exec.Command("go", "mod", "download", "-json", module+"@"+string(m[1]))
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s can't be fetched: %v", module, err)
	}
	var info struct{ Dir string }
	if err := json.Unmarshal(out, &info); err != nil || info.Dir == "" {
		t.Fatalf("%s can't be fetched: %s", module, out)
	}
	return info.Dir
}
