package conformance

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

const wardlePath = "k8s.io/sample-apiserver/pkg/apis"

// addWardle copies wardle into a module. Files that skip tells of stay out.
func addWardle(t testing.TB, dir string, skip func(base string) bool) string {
	t.Helper()
	from := filepath.Join(moduleDir(t, "k8s.io/sample-apiserver"), "pkg", "apis")
	copyTree(t, from, filepath.Join(dir, "pkg", "apis"), skip, strings.NewReplacer(wardlePath, modulePath+"/pkg/apis"))
	return dir
}

// TestWardle: copies, conversions and defaults are upstream's, on fuzzed objects, under upstream's signatures.
func TestWardle(t *testing.T) {
	dir := addWardle(t, newModule(t), emitted.MatchString)
	run(t, dir, apigen(t), "build", "./...")
	for _, pkg := range []string{"wardle", "wardle/v1alpha1", "wardle/v1beta1"} {
		upstream := filepath.Join(moduleDir(t, "k8s.io/sample-apiserver"), "pkg", "apis", pkg)
		checkSignatures(t, upstream, filepath.Join(dir, "pkg", "apis", pkg))
	}
	copyTest(t, "compare", filepath.Join(dir, "compare"))
	copyTest(t, "wardle", filepath.Join(dir, "wardle"))
	goTest(t, dir, "./compare", "./wardle")
}

// TestWardleWiring: in a module that serves, the wiring is emitted, too, and compiles.
func TestWardleWiring(t *testing.T) {
	dir := addWardle(t, newServerModule(t), emitted.MatchString)
	run(t, dir, apigen(t), "build", "./...")
	if len(serving(t, dir)) == 0 {
		t.Error("no wiring was emitted")
	}
	run(t, dir, "go", "build", "./...")
}

// serving are the generated files that upstream has no counterpart for.
func serving(t testing.TB, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(filepath.Join(dir, "pkg"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(filepath.Base(filepath.Dir(path)), "wiring") &&
			strings.HasPrefix(d.Name(), "zz_generated.") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestWardleOverUpstream: upstream's generated files make no difference, and are replaced.
func TestWardleOverUpstream(t *testing.T) {
	clean := addWardle(t, newModule(t), emitted.MatchString)
	run(t, clean, apigen(t), "build", "./...")
	over := addWardle(t, newModule(t), func(string) bool { return false })
	run(t, over, apigen(t), "build", "./...")
	files := generated(t, clean)
	if len(files) == 0 {
		t.Fatal("no generated files")
	}
	for _, file := range files {
		rel, err := filepath.Rel(clean, file)
		if err != nil {
			t.Fatal(err)
		}
		if read(t, file) != read(t, filepath.Join(over, rel)) {
			t.Errorf("%s depends on what upstream's generators left", rel)
		}
	}
	run(t, over, apigen(t), "build", "--check", "./...")
}
