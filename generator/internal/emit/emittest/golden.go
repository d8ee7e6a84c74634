// Package emittest checks emitters against packages of this module whose generated files are committed: the goldens are
// compiled with the module, and run by the packages' own tests. Only tests may import it.
package emittest

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/load"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/program"
)

var update = flag.Bool("update", false, "write the goldens instead of comparing with them")

// Load loads packages of this module, from the test's folder.
func Load(t testing.TB, patterns ...string) *model.Program {
	t.Helper()
	res, err := program.Read(context.Background(), program.Options{Options: load.Options{
		Patterns: patterns, Owns: loadtest.Owned, Imports: []string{
			"k8s.io/apimachinery/pkg/apis/meta/v1", "k8s.io/apimachinery/pkg/runtime",
			"k8s.io/apimachinery/pkg/runtime/schema",
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range res.Program.Packages {
		if !pkg.Output {
			t.Logf("package %s is not written", pkg.Path)
		}
	}
	return res.Program
}

// Golden emits twice and compares with the files in place, byte by byte; -update writes them.
func Golden(t *testing.T, program *model.Program, emitters ...emit.Emitter) {
	t.Helper()
	for _, e := range emitters {
		if e.Faults != nil && len(e.Faults(plan.New(program))) > 0 {
			t.Fatalf("%s: %v", e.Name, e.Faults(plan.New(program)))
		}
		files, err := e.Emit(plan.New(program))
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		if len(files) == 0 {
			t.Errorf("%s emitted nothing", e.Name)
		}
		again, err := e.Emit(plan.New(program))
		if err != nil || len(again) != len(files) {
			t.Fatalf("%s: the second run differs: %v", e.Name, err)
		}
		for i, file := range files {
			if !bytes.Equal(file.Content, again[i].Content) {
				t.Errorf("%s/%s: the second run differs", file.Package, file.Name)
			}
			if !e.Owns(file.Name) {
				t.Errorf("%s does not own %s", e.Name, file.Name)
			}
			compare(t, file)
		}
	}
}

func compare(t *testing.T, file emit.File) {
	t.Helper()
	name := filepath.Join(file.Dir, file.Name)
	if *update {
		if err := os.WriteFile(name, file.Content, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Errorf("%v: run the test with -update", err)
		return
	}
	if !bytes.Equal(file.Content, want) {
		t.Errorf("%s/%s is not what the emitter writes: run the test with -update and look at the difference",
			file.Package, file.Name)
	}
}
