package load

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBareModule: what decides which folders are packages, and what their code may say, stays.
func TestBareModule(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`module example.com/shop

go 1.25.0

toolchain go1.26.0

godebug default=go1.24

require (
	example.com/a v1.0.0
	example.com/b v1.0.0 // indirect
)

replace example.com/a => ../a

replace example.com/b v1.0.0 => example.com/c v1.2.0

exclude example.com/a v0.9.0

tool example.com/a/cmd/a

ignore ./web
`)
	got, err := bareModule(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, kept := range []string{
		"module example.com/shop\n", "go 1.25.0\n", "toolchain go1.26.0\n", "godebug default=go1.24\n",
		"ignore ./web\n",
	} {
		if !strings.Contains(string(got), kept) {
			t.Errorf("no %q in\n%s", kept, got)
		}
	}
	for _, dropped := range []string{"example.com/a", "example.com/b", "example.com/c"} {
		if strings.Contains(string(got), dropped) {
			t.Errorf("%s is left in\n%s", dropped, got)
		}
	}
	write("module example.com/shop\n\nrequires x\n")
	if got, err := bareModule(dir); err == nil {
		t.Errorf("of a faulty go.mod:\n%s", got)
	}
}

// TestOwnModule: the short way is for folders of one module alone.
func TestOwnModule(t *testing.T) {
	module := t.TempDir()
	if err := os.WriteFile(filepath.Join(module, "go.mod"), []byte("module m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	workspace := filepath.Join(module, "workspace")
	if err := os.Mkdir(workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(workspace, "go.work"), []byte("go 1.26\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir  string
		env  []string
		want bool
	}{
		{module, nil, true},
		{module, []string{"GOWORK=off", "GOPACKAGESDRIVER=off", "GOFLAGS=-mod=mod"}, true},
		{workspace, nil, false},
		{workspace, []string{"GOWORK=off"}, true},
		{module, []string{"GOWORK=/else/go.work"}, false},
		{module, []string{"GOFLAGS=-modfile=other.mod"}, false},
		{module, []string{"GOFLAGS=-overlay=files.json"}, false},
		{module, []string{"GOPACKAGESDRIVER=/bin/driver"}, false},
	} {
		u := newUniverse(Options{Dir: c.dir, Env: c.env})
		if got := u.inOneModule(); got != c.want {
			t.Errorf("%s %q: %t", c.dir, c.env, got)
		}
	}
	for pattern, want := range map[string]bool{
		".": true, "./...": true, "../x": true, "/abs/x/...": true, "...": false, "all": false, "example.com/x": false,
	} {
		if isFolder(pattern) != want {
			t.Errorf("%q: %t", pattern, !want)
		}
	}
}
