package generator_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/loadtest"
)

const twoVersions = `
-- api/v1/types.go --
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
// +k8s:defaulter-gen=TypeMeta
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:storageversion
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Lamp struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `
	// +k8s:eachVal=+k8s:maxLength=3
	Names map[string]string ` + "`json:\"names,omitempty\"`" + `
	// +default="red"
	Color string ` + "`json:\"color,omitempty\"`" + `
}
-- api/v1beta1/types.go --
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Lamp struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `
	Names map[string]string ` + "`json:\"names,omitempty\"`" + `
	Color string ` + "`json:\"color,omitempty\"`" + `
}
-- lib/lib.go --
// +k8s:deepcopy-gen=package
package lib

type Part struct{ Names []string }
`

// TestSameBytesEverywhere: neither the order of packages, nor the folder, nor the number of processors changes a byte.
func TestSameBytesEverywhere(t *testing.T) {
	var first map[string]string
	for i, patterns := range [][]string{
		{"./..."}, {"./lib", "./api/v1beta1", "./api/v1"}, {"./api/v1", "example.com/test/lib", "./api/v1beta1"},
	} {
		dir := filepath.Join(loadtest.Dir(t, twoVersions), ".")
		if i > 0 {
			moved := filepath.Join(t.TempDir(), "quite", "another folder", "than before")
			if err := os.MkdirAll(filepath.Dir(moved), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(dir, moved); err != nil {
				t.Fatal(err)
			}
			dir = moved
		}
		before := runtime.GOMAXPROCS(i + 1)
		build(t, generator.Options{
			Dir: dir, Patterns: patterns, Env: loadtest.Env("-mod=mod"),
		})
		runtime.GOMAXPROCS(before)
		got := generatedFiles(t, dir)
		if first == nil {
			first = got
		}
		if d := cmp.Diff(first, got); d != "" || len(got) < 8 {
			t.Errorf("%v: %d files\n%s", patterns, len(got), d)
		}
	}
}

func generatedFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasPrefix(d.Name(), "zz_generated.") {
			rel, _ := filepath.Rel(dir, path)
			out[rel] = read(t, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
