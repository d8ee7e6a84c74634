package generator_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/report"
)

// wardle is a module with the sample API server's packages, generated files removed.
func wardle(t testing.TB) generator.Options {
	t.Helper()
	source := loadtest.ModuleDir(t, "k8s.io/sample-apiserver")
	dir := loadtest.StableDir(t, "wardle")
	if err := os.CopyFS(filepath.Join(dir, "pkg/apis/wardle"),
		os.DirFS(filepath.Join(source, "pkg/apis/wardle"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fuzzer", "install", "validation"} {
		if err := os.RemoveAll(filepath.Join(dir, "pkg/apis/wardle", name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, product := range []string{"deepcopy", "defaults", "conversion"} {
		files, err := filepath.Glob(filepath.Join(dir, "pkg/apis/wardle", "*", "zz_generated."+product+".go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range append(files, filepath.Join(dir, "pkg/apis/wardle", "zz_generated."+product+".go")) {
			if err := os.Remove(f); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
	}
	loadtest.WriteModule(t, dir, "k8s.io/sample-apiserver")
	return generator.Options{
		Listings: loadtest.Listings, Dir: dir, Env: loadtest.Env(),
	}
}

// TestWardleCompiles: real packages go in unchanged, and what comes out compiles, wiring included.
func TestWardleCompiles(t *testing.T) {
	o := wardle(t)
	res, err := generator.Build(t.Context(), o)
	if err != nil {
		t.Fatal(report.Describe(err, o.Dir))
	}
	if res.Files != 13 || len(res.Warnings) != 0 || len(res.Notes) != 0 {
		t.Errorf("got %d files, warnings %v, notes %v", res.Files, res.Warnings, res.Notes)
	}
	compile := exec.Command("go", "list", "-export", "-test", "./...")
	compile.Dir, compile.Env = o.Dir, o.Env
	if out, err := compile.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	o.Check = true
	if res := build(t, o); len(res.Changes) != 0 {
		t.Errorf("a check finds %s", summaries(res, o.Dir))
	}
}

func BenchmarkBuildWardle(b *testing.B) {
	o := wardle(b)
	for b.Loop() {
		if _, err := generator.Build(b.Context(), o); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBuildUnchanged(b *testing.B) {
	o := wardle(b)
	o.Cache = b.TempDir()
	if _, err := generator.Build(b.Context(), o); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if res, err := generator.Build(b.Context(), o); err != nil || !res.Unchanged {
			b.Fatalf("%v, %v", res, err)
		}
	}
}
