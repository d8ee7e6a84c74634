package wiring

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/openapi"
	"apigen.dev/generator/internal/plan"
)

var update = flag.Bool("update", false, "write the goldens")

// golden compares files with those on disk, or writes them.
func golden(t *testing.T, files []emit.File) {
	t.Helper()
	for _, f := range files {
		name := filepath.Join(f.Dir, f.Name)
		if *update {
			if err := os.WriteFile(name, f.Content, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(emit.Readable(want)), string(emit.Readable(f.Content))); diff != "" {
			t.Errorf("%s (-golden +emitted); go test -update writes it:\n%s", name, diff)
		}
	}
}

func TestGolden(t *testing.T) {
	s := newShop()
	files, err := Emit(plan.New(s.program))
	if err != nil {
		t.Fatal(err)
	}
	documents, err := openapi.Emit(plan.New(s.program))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 || len(documents) != 4 {
		t.Fatalf("%d files and %d documents", len(files), len(documents))
	}
	golden(t, append(files, documents...))
	compile := exec.Command("go", "list", "-export", "-test", "./testdata/shop/wiring")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Errorf("the golden doesn't compile: %v\n%s", err, out)
	}
}

func TestSameBytes(t *testing.T) {
	first, err := Emit(plan.New(newShop().program))
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		again, err := Emit(plan.New(newShop().program))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, again); diff != "" {
			t.Fatalf("two runs differ:\n%s", diff)
		}
	}
}

func TestWarnings(t *testing.T) {
	warnings := Warnings(plan.New(newShop().program))
	if len(warnings) != 1 {
		t.Fatalf("%d warnings: %v", len(warnings), warnings)
	}
	want := "shop/types.go:7:1: method ValidateUpdate of Widget is not called by the server: its signature is not " +
		"`func (in *Widget) ValidateUpdate(ctx context.Context, old *Widget) field.ErrorList`"
	if got := warnings[0].Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestNoWiringWithoutRuntime(t *testing.T) {
	s := newShop()
	s.program.RuntimeAvailable = false
	if files, err := Emit(plan.New(s.program)); err != nil || len(files) != 0 {
		t.Errorf("%d files, %v", len(files), err)
	}
}
