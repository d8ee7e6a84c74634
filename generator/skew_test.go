package generator_test

import (
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/loadtest"
)

// TestSkew: a build says which modules of Kubernetes are of different releases, and how to align them. A dependency
// that doesn't compile is an error at its import: nothing that is generated would compile either.
func TestSkew(t *testing.T) {
	const skewed = "modules of Kubernetes are of different releases, k8s.io/api v0.37.2 beside " +
		"k8s.io/kubelet v0.36.4, k8s.io/metrics v0.36.4"
	const align = "align them with `go get k8s.io/kubelet@v0.37.2 k8s.io/metrics@v0.37.2`"
	const sound = "package metrics\n\ntype T struct{}\n"
	broken := "package metrics\n\nimport \"k8s.io/apimachinery/pkg/types\"\n\ntype T struct{}\n\n" +
		"func uses() { types.Gone() }\n"
	for name, c := range map[string]struct {
		version, source    string
		warning, err, hint string
	}{
		"aligned":           {"v0.37.1", sound, "", "", ""},
		"skewed":            {"v0.36.4", sound, skewed, "", align},
		"skewed and broken": {"v0.36.4", broken, "", "undefined: types.Gone", align},
		"broken alone":      {"v0.37.1", broken, "", "undefined: types.Gone", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			loadtest.WriteModule(t, dir, loadtest.Module)
			mod := filepath.Join(dir, "go.mod")
			write(t, mod, read(t, mod)+"\nrequire k8s.io/metrics "+c.version+"\n"+
				"\nreplace k8s.io/metrics => ./metrics\n"+
				"\nrequire k8s.io/kubelet v0.36.4\n\nreplace k8s.io/kubelet => ./kubelet\n") // which no package imports
			write(t, filepath.Join(dir, "kubelet", "go.mod"), "module k8s.io/kubelet\n\ngo 1.26.0\n")
			write(t, filepath.Join(dir, "metrics", "go.mod"), "module k8s.io/metrics\n\ngo 1.26.0\n\n"+
				"require k8s.io/apimachinery v0.37.2\n")
			write(t, filepath.Join(dir, "metrics", "metrics.go"), c.source)
			write(t, filepath.Join(dir, "v1", "types.go"), "// +k8s:deepcopy-gen=package\npackage v1\n\n"+
				"import \"k8s.io/metrics\"\n\ntype Book struct{ metrics.T }\n")
			o := options(dir)
			o.Emitters = nil
			res, err := generator.Build(t.Context(), o)
			if c.err != "" {
				const at = "types.go:4:8: package k8s.io/metrics doesn't compile"
				if err == nil || !strings.Contains(err.Error(), at) || !strings.Contains(err.Error(), c.err) ||
					!strings.Contains(err.Error(), c.hint) {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			said := ""
			for _, w := range res.Warnings {
				said += w.Error() + "\n"
			}
			if !strings.Contains(said, c.warning) || !strings.Contains(said, c.hint) || c.warning == "" && said != "" {
				t.Errorf("warnings: %s", said)
			}
		})
	}
}

// TestServedDependency: a package that is served, and imports one that doesn't compile, is an error at its marker.
func TestServedDependency(t *testing.T) {
	dir := t.TempDir()
	loadtest.WriteModule(t, dir, loadtest.Module)
	mod := filepath.Join(dir, "go.mod")
	write(t, mod, read(t, mod)+"\nrequire example.org/shelf v0.0.0\n\nreplace example.org/shelf => ./shelf\n")
	write(t, filepath.Join(dir, "shelf", "go.mod"), "module example.org/shelf\n\ngo 1.26.0\n\n"+
		"require k8s.io/apimachinery v0.37.2\n")
	write(t, filepath.Join(dir, "shelf", "v1", "types.go"), "// +groupName=shelf.example.org\npackage v1\n\n"+
		"import (\n\t\"example.org/shelf/broken\"\n\n\tmetav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n)\n\n"+
		"// +genclient\n// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object\ntype Shelf struct {\n"+
		"\tmetav1.TypeMeta `json:\",inline\"`\n\tmetav1.ObjectMeta `json:\"metadata,omitempty\"`\n"+
		"\tSpec broken.T `json:\"spec,omitempty\"`\n}\n")
	write(t, filepath.Join(dir, "shelf", "broken", "broken.go"), "package broken\n\ntype T struct{}\n\n"+
		"func uses() { gone() }\n")
	write(t, filepath.Join(dir, "v1", "types.go"), "// +apigen:serve=example.org/shelf/v1\npackage v1\n")
	o := options(dir)
	o.Emitters = nil
	_, err := generator.Build(t.Context(), o)
	const want = "types.go:1:4: package example.org/shelf/broken doesn't compile"
	if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "undefined: gone") {
		t.Errorf("got %v, want %q", err, want)
	}
}
