package conformance

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestApimachinery: apimachinery's own meta packages, with conversions from queries, functions of other packages and an
// internal version beside its spoke's, are generated under upstream's signatures, and compile.
func TestApimachinery(t *testing.T) {
	from, dir := moduleDir(t, "k8s.io/apimachinery"), t.TempDir()
	copyTree(t, from, dir, emitted.MatchString, strings.NewReplacer())
	for _, name := range []string{"go.mod", "go.sum"} {
		write(t, filepath.Join(dir, name), read(t, filepath.Join(from, name)))
	}
	// Elsewhere apimachinery keeps its own: those packages aren't named below.
	for _, file := range generated(t, from) {
		rel, err := filepath.Rel(from, file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(filepath.ToSlash(rel), "pkg/apis/meta/") {
			write(t, filepath.Join(dir, rel), read(t, file))
		}
	}
	run(t, dir, apigen(t), "build", "./pkg/apis/meta/...")
	for _, file := range generated(t, filepath.Join(from, "pkg", "apis", "meta")) {
		rel, err := filepath.Rel(from, filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		checkSignatures(t, filepath.Dir(file), filepath.Join(dir, rel))
	}
	run(t, dir, "go", "build", "./pkg/apis/...")
}
