package resolve_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/loadtest"
)

var update = flag.Bool("update", false, "rewrite what the bad inputs are expected to say")

// TestBadInput holds the errors of every archive in testdata/bad against its section "want": all of them, at their
// positions.
func TestBadInput(t *testing.T) {
	names, err := filepath.Glob("testdata/bad/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			archive := txtar.Parse(data)
			dir := loadtest.Dir(t, string(data))
			_, err = loadtest.Try(dir)
			if err == nil {
				t.Fatal("it loads")
			}
			var list diag.Errors
			if !errors.As(err, &list) {
				t.Fatalf("got a %T: %v", err, err)
			}
			got := strings.ReplaceAll(strings.ReplaceAll(err.Error(), dir+"/", ""), dir, "$DIR") + "\n"
			for i, f := range archive.Files {
				if f.Name != "want" {
					continue
				}
				if *update {
					archive.Files[i].Data = []byte(got)
					if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
						t.Fatal(err)
					}
				} else if d := cmp.Diff(string(f.Data), got); d != "" {
					t.Error(d)
				}
			}
		})
	}
}
