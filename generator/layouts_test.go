package generator_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/loadtest"
)

// withLibrary is a kind that is made of types of another module, whose markers count.
const withLibrary = `
-- api/v1/types.go --
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
// +k8s:defaulter-gen=TypeMeta
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/parts/bulb"
)

// +kubebuilder:object:root=true
type Lamp struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `

	Spec bulb.Spec ` + "`json:\"spec\"`" + `
	More []bulb.Spec ` + "`json:\"more,omitempty\"`" + `
}
-- parts/go.mod --
module example.com/parts

go 1.26.0
-- parts/bulb/bulb.go --
// Package bulb has parts of lamps.
package bulb

// Spec is what a bulb is like.
type Spec struct {
	// Color is a color.
	// +kubebuilder:validation:Enum=red;green
	// +default="red"
	Color string ` + "`json:\"color,omitempty\"`" + `
	// +kubebuilder:validation:MinLength=3
	Names []Name ` + "`json:\"names,omitempty\"`" + `
	// +kubebuilder:validation:Minimum=1
	Watts *int ` + "`json:\"watts,omitempty\"`" + `
}

// Name is a name.
// +kubebuilder:validation:MaxLength=9
type Name string
`

// TestSameBytesFromAnyLayout checks that a library that is replaced, in the workspace, or vendored gives the same
// files, that these compile there, and that a build notices each change of layout: it never takes one for the state
// that it built before.
func TestSameBytesFromAnyLayout(t *testing.T) {
	dir := loadtest.Unpack(t, loadtest.StableDir(t, "layouts"),
		strings.ReplaceAll(withLibrary, "MinLength=3", "MinItems=3"))
	cache := t.TempDir()
	layout := func(flags string) generator.Options {
		return generator.Options{Dir: dir, Cache: cache, Env: append(loadtest.Env(flags), "GOWORK=")}
	}
	noticed := func(o generator.Options) map[string]string {
		t.Helper()
		if build(t, o).Unchanged {
			t.Fatal("another layout was taken for the one before")
		}
		goBuild(t, o)
		return ownFiles(t, dir)
	}
	replaced := noticed(layout("-mod=mod"))
	if len(replaced) < 8 || !strings.Contains(replaced["api/v1/zz_generated.defaults.go"], `"red"`) {
		t.Fatalf("%d files, and no default of the library's:\n%s", len(replaced),
			replaced["api/v1/zz_generated.defaults.go"])
	}

	write(t, filepath.Join(dir, "go.work"), "go 1.26.0\n\nuse (\n\t.\n\t./parts\n)\n")
	if d := cmp.Diff(replaced, noticed(layout(""))); d != "" {
		t.Errorf("in a workspace:\n%s", d)
	}
	remove(t, filepath.Join(dir, "go.work"))

	vendor := exec.Command("go", "mod", "vendor")
	vendor.Dir, vendor.Env = dir, layout("").Env
	if out, err := vendor.CombinedOutput(); err != nil {
		t.Fatalf("go mod vendor: %s", out)
	}
	vendored := layout("-mod=vendor -trimpath") // the next run finds what was compiled, wherever the copies lie
	if d := cmp.Diff(replaced, noticed(vendored)); d != "" {
		t.Errorf("vendored:\n%s", d)
	}
	for path := range replaced {
		remove(t, filepath.Join(dir, path))
	}
	if d := cmp.Diff(replaced, noticed(vendored)); d != "" {
		t.Errorf("vendored, from nothing:\n%s", d)
	}
	library := filepath.Join(dir, "vendor/example.com/parts/bulb/bulb.go")
	inTime(t, vendored, func() { keepTime(t, library, `"red"`, `"gre"`) })
	if got := ownFiles(t, dir)["api/v1/zz_generated.defaults.go"]; !strings.Contains(got, `"gre"`) {
		t.Errorf("the vendored file changed, and no default did:\n%s", got)
	}
}

// ownFiles are the generated files of the module, without those of what it vendors.
func ownFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := generatedFiles(t, dir)
	for path := range out {
		if strings.HasPrefix(filepath.ToSlash(path), "vendor/") {
			delete(out, path)
		}
	}
	return out
}

// goBuild compiles a module as its users do.
func goBuild(t *testing.T, o generator.Options) {
	t.Helper()
	cmd := exec.Command("go", "build", "./...")
	cmd.Dir, cmd.Env = o.Dir, o.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %s", out)
	}
}
