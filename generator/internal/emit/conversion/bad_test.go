package conversion

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/plan"
)

// TestBad holds the errors of bad input to those at the end of each archive.
func TestBad(t *testing.T) {
	archives, err := filepath.Glob("testdata/bad/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want := string(archive.Files[len(archive.Files)-1].Data)
			dir := loadtest.Dir(t, string(txtar.Format(archive)))
			loaded, err := loadtest.Try(dir)
			if err != nil {
				t.Fatal(err)
			}
			faults := Emitter().Faults(plan.New(loaded.Program))
			if len(faults) == 0 {
				t.Fatal("no faults")
			}
			got := strings.ReplaceAll(faults.Error(), dir+"/", "") + "\n"
			if flag.Lookup("update").Value.String() == "true" {
				archive.Files[len(archive.Files)-1].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
