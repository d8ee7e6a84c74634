package generator_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/report"
)

// apart is a group whose versions, and its internal package, have no folder in common.
const apart = `
-- a/v1/types.go --
// +k8s:deepcopy-gen=package
// +groupName=shop.example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:resource:path=lamps
// +kubebuilder:object:root=true
type Lamp struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	Spec Spec ` + "`json:\"spec\"`" + `
}

type Spec struct {
	Watts int ` + "`json:\"watts\"`" + `
}
-- deep/down/b/v2/types.go --
// +k8s:deepcopy-gen=package
// +groupName=shop.example.com
package v2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
type Lamp struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	Spec Spec ` + "`json:\"spec\"`" + `
}

type Spec struct {
	Watts int64 ` + "`json:\"watts\"`" + `
}
-- other/v1/types.go --
// +k8s:deepcopy-gen=package
// +groupName=other.example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
type Torch struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
}
-- apis.go --
// +apigen:groups
package apis
`

// TestPartsMakeTheWhole checks that builds of single packages in any order, and builds of all packages on one command
// line in any order, give the files of one build of everything, also if a group is in several folders.
func TestPartsMakeTheWhole(t *testing.T) {
	whole := built(t, "./...")
	if !strings.Contains(whole, "wiring/zz_generated.wiring.go") ||
		strings.Count(whole, "zz_generated.wiring.go") != 2 {
		t.Fatalf("two groups have no two wirings:\n%.2000s", whole)
	}
	for name, runs := range map[string][]string{
		"together":           {". ./a/v1 ./deep/down/b/v2 ./other/v1"},
		"together backwards": {"./other/v1 ./deep/down/b/v2 ./a/v1 ."},
		"by import path": {"example.com/test/deep/... example.com/test/other/v1 " +
			"example.com/test example.com/test/a/v1"},
		"one by one": {"./a/v1", "./deep/down/b/v2", "./other/v1", "."},
		"backwards":  {".", "./other/v1", "./deep/down/b/v2", "./a/v1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(whole, built(t, runs...)); d != "" {
				t.Errorf("-whole +parts\n%s", d)
			}
		})
	}
}

// built builds patterns, one run after the other, and returns what was written.
func built(t *testing.T, runs ...string) string {
	t.Helper()
	dir := loadtest.Dir(t, apart)
	for _, run := range runs {
		_, err := generator.Build(context.Background(), generator.Options{
			Listings: loadtest.Listings, Dir: dir, Patterns: strings.Fields(run),
			Env: loadtest.Env("-mod=mod"),
		})
		if err != nil {
			t.Fatalf("apigen build %s: %s", run, report.Describe(err, dir))
		}
	}
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasPrefix(d.Name(), "zz_") {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		out.WriteString("== " + filepath.ToSlash(rel) + "\n" + string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}
