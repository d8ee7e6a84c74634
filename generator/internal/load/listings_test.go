package load

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestListingsRememberWhatStays: a listing remembers packages whose files can't change, and no package that imports
// another.
func TestListingsRememberWhatStays(t *testing.T) {
	cached := &packages.Module{Path: "k8s.io/api", Version: "v0.37.2", Dir: "/cache/k8s.io/api@v0.37.2"}
	pkg := func(path string, module *packages.Module, imports ...*packages.Package) *packages.Package {
		p := &packages.Package{ID: path, PkgPath: path, Dir: "/" + path, ExportFile: "/export/" + path, Module: module,
			Imports: map[string]*packages.Package{}}
		for _, imported := range imports {
			p.Imports[imported.PkgPath] = imported
		}
		return p
	}
	local := pkg("example.com/local", &packages.Module{Path: "example.com/local", Dir: "/src/local",
		Replace: &packages.Module{Path: "../local", Dir: "/src/local"}})
	faulty := pkg("k8s.io/api/faulty", cached)
	faulty.Errors = []packages.Error{{Msg: "no such package"}}
	unbuilt := pkg("k8s.io/api/unbuilt", cached)
	unbuilt.ExportFile = ""
	for name, test := range map[string]struct {
		p    *packages.Package
		want bool
	}{
		"the standard library":         {pkg("fmt", nil), true},
		"the module cache":             {pkg("k8s.io/api/core/v1", cached), true},
		"a named module":               {pkg("apigen.dev/runtime/api", &packages.Module{Dir: "/src/apigen"}), true},
		"the main module":              {pkg("example.com/x", &packages.Module{Main: true, Version: "v1.0.0"}), false},
		"a replaced module":            {local, false},
		"a package that imports one":   {pkg("k8s.io/api/user", cached, local), false},
		"a package without a module":   {pkg("example.com/command-line", nil), false},
		"a package with an error":      {faulty, false},
		"a package that doesn't build": {unbuilt, false},
	} {
		l := NewListings("/src/apigen")
		l.remember("key", []*packages.Package{test.p})
		got, unknown := l.find("key", []string{"k8s.io/other", test.p.PkgPath})
		if found := len(got) == 1; found != test.want {
			t.Errorf("%s: remembered %t, want %t", name, found, test.want)
		}
		if len(got)+len(unknown) != 2 || unknown[0] != "k8s.io/other" {
			t.Errorf("%s: unknown are %q", name, unknown)
		}
		if len(got) > 0 && (got[0] == test.p || got[0].ExportFile != test.p.ExportFile) {
			t.Errorf("%s: the answer is no copy", name)
		}
		if got, _ := l.find("another", []string{test.p.PkgPath}); len(got) > 0 {
			t.Errorf("%s: remembered for another module", name)
		}
	}
}

// TestListingsKey: what the go command says depends on go.mod, go.sum and the environment; if it depends on more,
// nothing is remembered.
func TestListingsKey(t *testing.T) {
	module := func(mod string) string {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	key := func(dir string, env ...string) string {
		u := &Universe{options: Options{Dir: dir, Env: append([]string{"GOWORK=off"}, env...)}}
		text, ok := u.listingKey()
		if !ok {
			return ""
		}
		return text
	}
	a, b := module("module a\n"), module("module a\n")
	inside := filepath.Join(a, "sub")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	if one := key(a); one == "" || one != key(b) || one != key(inside) {
		t.Error("equal modules have different keys")
	}
	if key(a) == key(module("module b\n")) || key(a) == key(a, "GOFLAGS=-tags=x") {
		t.Error("different modules, or environments, have the same key")
	}
	replacing := func(mod string) string {
		dir := module("module a\n\nreplace c => ./c\n")
		if mod != "" {
			if err := os.CopyFS(filepath.Join(dir, "c"), os.DirFS(module(mod))); err != nil {
				t.Fatal(err)
			}
		}
		return key(dir)
	}
	if one := replacing("module c\n"); one == "" || one != replacing("module c\n") ||
		one == replacing("module c\n\nrequire d v1.0.0\n") || one == replacing("") {
		t.Error("a key is made of the go.mod of a folder that stands for a module, and of no more")
	}
	vendored := module("module a\n")
	if err := os.Mkdir(filepath.Join(vendored, "vendor"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{
		"a workspace": key(a, "GOWORK="), "a driver": key(a, "GOPACKAGESDRIVER=x"), "vendoring": key(vendored),
		"an overlay": key(a, "GOFLAGS=-overlay=x"), "another go.mod": key(a, "GOFLAGS=-modfile=x"),
		"no module": key(t.TempDir()), "a faulty go.mod": key(module("modul a\n")),
	} {
		if got != "" {
			t.Errorf("%s: there is a key", name)
		}
	}
}
