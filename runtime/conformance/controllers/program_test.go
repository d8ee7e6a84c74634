package controllers

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// program is a main package of another project.
type program struct {
	name string
	// module and version say where the project is, and folder where the main package is in it; "" is the root.
	module, version, folder string
	// instead are modules with versions that the build takes instead of those that the project asks for.
	instead []string
}

// build builds the program with the versions of its module's go.mod, and returns the path of the binary. The folder
// APIGEN_PROGRAMS, if it is set, keeps binaries between runs.
func (p program) build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(cmp.Or(os.Getenv("APIGEN_PROGRAMS"), dir), p.name+"-"+p.version)
	if _, err := os.Stat(binary); err == nil {
		return binary
	}
	p.goMod(t, dir)
	path := strings.TrimSuffix(p.module+"/"+p.folder, "/")
	run(t, dir, "go", "build", "-mod=mod", "-p=2", "-trimpath", "-ldflags=-s -w", "-o", binary, path)
	return binary
}

// goMod writes a go.mod for a build of the program: that of its module, which is a requirement then. A module that the
// project keeps in a folder beside has a release of the same version.
func (p program) goMod(t *testing.T, dir string) {
	t.Helper()
	source := p.source(t)
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(source, name))
		if err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), text, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	edit := []string{"mod", "edit", "-module=program.invalid", "-require=" + p.module + "@" + p.version}
	var mod struct {
		Replace []struct {
			Old, New struct{ Path, Version string }
		}
	}
	decode(t, run(t, dir, "go", "mod", "edit", "-json"), &mod)
	for _, replace := range mod.Replace {
		if strings.HasPrefix(replace.New.Path, "./") {
			edit = append(edit, "-dropreplace="+replace.Old.Path, "-require="+replace.Old.Path+"@"+p.version)
		}
	}
	for _, module := range p.instead {
		path, _, _ := strings.Cut(module, "@")
		edit = append(edit, "-replace="+path+"="+module)
	}
	run(t, dir, "go", edit...)
}

// source returns the folder of the project's module, in the module cache.
func (p program) source(t *testing.T) string {
	t.Helper()
	var downloaded struct{ Dir string }
	decode(t, run(t, t.TempDir(), "go", "mod", "download", "-json", p.module+"@"+p.version), &downloaded)
	return downloaded.Dir
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// run runs a command in a folder, and returns what it prints.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	var errs strings.Builder
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir, command.Stderr = dir, &errs
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, errs.String())
	}
	return string(out)
}
