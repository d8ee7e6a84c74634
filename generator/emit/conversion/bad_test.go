package conversion

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
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
			dir, paths, want := unpack(t, archive)
			files, err := Emitter().Emit(newLoader(t, "example.com/bad", dir).program(paths...))
			if err == nil {
				t.Fatal("no error")
			}
			if len(files) > 0 {
				t.Error("files in spite of errors")
			}
			got := err.Error() + "\n"
			if *update {
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

// unpack writes the archive's packages and returns their paths, and the errors that are expected.
func unpack(t *testing.T, archive *txtar.Archive) (dir string, paths []string, want string) {
	t.Helper()
	dir = t.TempDir()
	for _, f := range archive.Files {
		if f.Name == "errors" {
			want = string(f.Data)
			continue
		}
		file := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, bytes.TrimLeft(f.Data, "\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if path := filepath.Dir(f.Name); len(paths) == 0 || paths[len(paths)-1] != path {
			paths = append(paths, path)
		}
	}
	return dir, paths, want
}
