package generator_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/report"
)

const generationSource = `package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// KIND is a kind.
//
// +kubebuilder:object:root=true
MARKER
type KIND struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	Body KINDBody ` + "`json:\"FIELD\"`" + `
}

// KINDBody is what is in it.
type KINDBody struct {
	Size int32 ` + "`json:\"size\"`" + `
}

// KINDList is a list.
//
// +kubebuilder:object:root=true
type KINDList struct {
	metav1.TypeMeta ` + "`json:\",inline\"`" + `
	metav1.ListMeta ` + "`json:\"metadata,omitempty\"`" + `

	Items []KIND ` + "`json:\"items\"`" + `
}
`

// TestGeneration: kinds with a field spec count in metadata.generation, unless +apigen:generation says otherwise.
func TestGeneration(t *testing.T) {
	cases := []struct {
		kind, field, marker string
		counted             bool
	}{
		{"Ant", "spec", "//", true},
		{"Bee", "data", "//", false},
		{"Cat", "spec", "// +apigen:generation=false", false},
		{"Dog", "data", "// +apigen:generation=true", true},
		{"Fly", "data", "// +apigen:generation=true\n// +apigen:storage=none\n// +genclient:onlyVerbs=get", true},
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("apis/apis.go", "// Package apis collects.\n//\n// +apigen:groups\npackage apis\n")
	write("apis/zoo/v1/doc.go", "// Package v1 is a version.\n//\n// +groupName=zoo.example.com\npackage v1\n")
	for _, c := range cases {
		write("apis/zoo/v1/"+strings.ToLower(c.kind)+".go",
			strings.NewReplacer("KIND", c.kind, "FIELD", c.field, "MARKER", c.marker).Replace(generationSource))
	}
	loadtest.WriteModule(t, dir, "example.com/test")
	options := generator.Options{Listings: loadtest.Listings, Dir: dir, Env: loadtest.Env()}
	if _, err := generator.Build(t.Context(), options); err != nil {
		t.Fatal(report.Describe(err, dir))
	}
	wiring, err := os.ReadFile(filepath.Join(dir, "apis/zoo/wiring/zz_generated.wiring.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		define := regexp.MustCompile(`(?ms)^func define` + c.kind + `\(.*?^}`).Find(wiring)
		if define == nil {
			t.Fatalf("no definition of %s in\n%s", c.kind, wiring)
		}
		if without := strings.Contains(string(define), "NoGeneration: true"); without == c.counted {
			t.Errorf("%s with %s and %s:\n%s", c.kind, c.field, c.marker, define)
		}
	}
}
