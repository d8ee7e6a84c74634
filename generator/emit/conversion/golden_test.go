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
		"shop":  {"shop", "shop/v1beta1", "shop/common/v1", "shop/common/v1beta1"},
		"flat":  {"flat/v1", "flat/v1beta1"},
		"cross": {"cross/app", "cross/app/v1", "cross/base", "cross/base/v1"},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := Emitter().Emit(newLoader(t, testdata, dir).program(paths...))
			if err != nil {
				t.Fatal(err)
			}
			if len(files) == 0 {
				t.Fatal("no files")
			}
			for _, file := range files {
				checkGolden(t, filepath.Join(file.Dir, file.Name), file.Content)
			}
		})
	}
}

func checkGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}
