package generator_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"apigen.dev/generator"
)

// TestPlans holds what is decided for the library example, and for the packages of the sample API server, to
// testdata/plan; go test -update writes it.
func TestPlans(t *testing.T) {
	library, err := filepath.Abs("../examples/library")
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]generator.Options{
		"library": {Dir: library},
		"wardle":  wardle(t),
	} {
		t.Run(name, func(t *testing.T) {
			o.Check = true
			var printed bytes.Buffer
			printPlan(&printed, build(t, o).Plan)
			golden := filepath.Join("testdata/plan", name+".txt")
			if *update {
				if err := os.WriteFile(golden, printed.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(printed.String(), "\n")); diff != "" {
				t.Errorf("the plan is another (-testdata +planned):\n%s", diff)
			}
		})
	}
}
