package generator_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/report"
	"apigen.dev/generator/internal/verify"
)

var update = flag.Bool("update", false, "rewrite what the bad inputs are expected to say")

// TestBadInput builds every archive in testdata/bad with all emitters and compares the messages that users read with
// the archive's section "want": all errors at their positions, or the warnings and notes about odd input that apigen
// accepts. No build may panic, report a bug of apigen, or write a file. The lines of a section "args" are the patterns.
func TestBadInput(t *testing.T) {
	names, err := filepath.Glob("testdata/bad/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			archive := txtar.Parse(data)
			dir := loadtest.Dir(t, string(data))
			// With -mod=mod, what the go command says would depend on what the module cache has.
			o := generator.Options{Dir: dir, Check: true, Listings: loadtest.Listings,
				Env: loadtest.Env("-mod=readonly")}
			want := -1
			for i, f := range archive.Files {
				switch f.Name {
				case "want":
					want = i
				case "args":
					o.Patterns = strings.Fields(string(f.Data))
				}
			}
			got := told(t, o, dir)
			if want < 0 {
				archive.Files, want = append(archive.Files, txtar.File{Name: "want"}), len(archive.Files)
			}
			if *update {
				archive.Files[want].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if d := cmp.Diff(string(archive.Files[want].Data), got); d != "" {
				t.Error(d)
			}
		})
	}
}

// told is what a user reads of a build.
func told(t *testing.T, o generator.Options, dir string) string {
	t.Helper()
	res, err := generator.Build(context.Background(), o)
	var lines []string
	if err != nil {
		if errors.As(err, &verify.Bug{}) || errors.As(err, &generator.Panic{}) {
			t.Errorf("a bug of apigen: %v", err)
		}
		lines = append(lines, report.Describe(err, dir))
	} else {
		if w := report.Warnings(res.Warnings, dir); w != "" {
			lines = append(lines, w)
		}
		lines = slices.Concat(lines, res.Notes)
		for _, c := range res.Changes {
			lines = append(lines, c.Summary(dir))
		}
	}
	return strings.ReplaceAll(strings.Join(lines, "\n"), dir, "$DIR") + "\n"
}
