package conversion

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

const testdata = "apigen.dev/generator/emit/conversion/testdata"

func TestGolden(t *testing.T) {
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for name, paths := range map[string][]string{
		"shop": {"shop", "shop/v1beta1", "shop/common/v1", "shop/common/v1beta1"},
		"flat": {"flat/v1", "flat/v1beta1"},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := Emitter().Emit(newLoader(t, testdata, dir).program(paths...))
			if err != nil {
				t.Fatal(err)
			}
			if len(files) != 1 {
				t.Fatalf("%d files, want 1", len(files))
			}
			golden := filepath.Join(files[0].Dir, files[0].Name)
			if *update {
				if err := os.WriteFile(golden, files[0].Content, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(files[0].Content)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
