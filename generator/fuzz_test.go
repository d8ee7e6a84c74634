package generator_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/verify"
)

// FuzzLoad builds any text as the Go files of a module, with all emitters. Whatever the text is, the build ends without
// a panic and writes only code that compiles. Every error lies in the text, and a build with errors writes nothing.
func FuzzLoad(f *testing.F) {
	all := seeds(f)
	if fuzzing := flag.Lookup("test.fuzz"); fuzzing == nil || fuzzing.Value.String() == "" {
		all = all[:3] // TestBadInput builds them all
	}
	for _, s := range all {
		f.Add(string(txtar.Format(&txtar.Archive{Files: s})))
	}
	f.Fuzz(func(t *testing.T, text string) {
		files := sources(txtar.Parse([]byte(text)).Files)
		if len(files) == 0 || len(text) > 1<<15 {
			return
		}
		dir := loadtest.Dir(t, string(txtar.Format(&txtar.Archive{Files: files})))
		if faults := (trial{t, dir}).build(); faults == nil {
			(trial{t, dir}).again()
		}
	})
}

// sources are the files of an archive that a fuzzed module is made of: Go files in folders of it.
func sources(files []txtar.File) []txtar.File {
	var out []txtar.File
	seen := map[string]bool{}
	for _, f := range files {
		plain := !strings.ContainsFunc(f.Name, func(r rune) bool {
			return r <= ' ' || r >= 0x7f || strings.ContainsRune(`\:*?"<>|'`+"`", r)
		})
		if plain && path.Clean(f.Name) == f.Name && filepath.IsLocal(f.Name) && strings.HasSuffix(f.Name, ".go") &&
			!seen[f.Name] && len(out) < 6 {
			seen[f.Name] = true
			out = append(out, f)
		}
	}
	for _, f := range out {
		for d := path.Dir(f.Name); d != "."; d = path.Dir(d) {
			if seen[d] {
				return nil // a file where another's folder must be
			}
		}
	}
	return out
}

// seeds are the Go files of the bad inputs.
func seeds(t testing.TB) [][]txtar.File {
	t.Helper()
	names, err := filepath.Glob("testdata/bad/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	var out [][]txtar.File
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all := txtar.Parse(data).Files
		modules := false
		for _, f := range all {
			modules = modules || path.Base(f.Name) == "go.mod" || path.Base(f.Name) == "go.work"
		}
		if files := sources(all); len(files) > 0 && !modules {
			out = append(out, files)
		}
	}
	return out
}

// trial is a module of fuzzed text.
type trial struct {
	t   *testing.T
	dir string
}

// build builds the module and returns what is at fault with it.
func (x trial) build() diag.Errors {
	x.t.Helper()
	before := x.tree()
	_, err := generator.Build(x.deadline(), x.options())
	if err == nil {
		return nil
	}
	if d := cmp.Diff(before, x.tree()); d != "" {
		x.t.Errorf("it failed, and wrote:\n%s", d)
	}
	var faults diag.Errors
	if errors.As(err, &verify.Bug{}) || errors.As(err, &generator.Panic{}) || !errors.As(err, &faults) {
		x.t.Fatalf("a bug of apigen: %v\n%s", err, x.sources())
	}
	for _, e := range faults {
		x.placed(e)
	}
	return faults
}

// again builds a module that was built: there is nothing left to do.
func (x trial) again() {
	x.t.Helper()
	o := x.options()
	o.Check = true
	res, err := generator.Build(x.deadline(), o)
	if err != nil {
		x.t.Fatalf("what was built can't be built again: %v\n%s", err, x.sources())
	}
	for _, c := range res.Changes {
		x.t.Errorf("built again:\n%s\n%s", c.Diff(x.dir), x.sources())
	}
}

// options are those of a build that needs no network. With -mod=mod, the go command would look for modules that go.mod
// lacks in the module cache, and ask a checksum database about what it finds there.
func (x trial) options() generator.Options {
	return generator.Options{Listings: loadtest.Listings, Dir: x.dir,
		Env: loadtest.Env("-mod=readonly")}
}

// deadline is when a build counts as one that hangs.
func (x trial) deadline() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	x.t.Cleanup(cancel)
	return ctx
}

// placed reports an error that doesn't lead its reader to a place in the module.
func (x trial) placed(e diag.Error) {
	x.t.Helper()
	name := e.Pos.Filename
	rel, err := filepath.Rel(x.dir, name)
	if name == "" || err != nil || !filepath.IsLocal(rel) || strings.TrimSpace(e.Message) == "" {
		x.t.Errorf("an error without a place in the module: %v\n%s", e, x.sources())
		return
	}
	data, err := os.ReadFile(name)
	if err != nil {
		if strings.Contains(x.sources(), "line ") { // a //line directive names any file
			return
		}
		x.t.Errorf("an error in a file that there isn't: %v\n%s", e, x.sources())
		return
	}
	if lines := strings.Count(string(data), "\n") + 1; e.Pos.Line < 1 || e.Pos.Line > lines || e.Pos.Column < 0 {
		if !strings.Contains(string(data), "line ") {
			x.t.Errorf("an error outside of the %d lines of its file: %v\n%s", lines, e, x.sources())
		}
	}
}

// tree is all that the module's folder holds.
func (x trial) tree() string {
	var out strings.Builder
	x.walk(func(rel string, data []byte) {
		if rel != "go.mod" && rel != "go.sum" { // the go command keeps them
			fmt.Fprintf(&out, "%s %q\n", rel, data)
		}
	})
	return out.String()
}

// sources is the module as an archive.
func (x trial) sources() string {
	a := &txtar.Archive{}
	x.walk(func(rel string, data []byte) {
		if strings.HasSuffix(rel, ".go") && !strings.Contains(rel, "zz_generated") {
			a.Files = append(a.Files, txtar.File{Name: rel, Data: data})
		}
	})
	return string(txtar.Format(a))
}

func (x trial) walk(visit func(rel string, data []byte)) {
	err := filepath.WalkDir(x.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(x.dir, name)
		visit(filepath.ToSlash(rel), data)
		return err
	})
	if err != nil {
		x.t.Fatal(err)
	}
}
