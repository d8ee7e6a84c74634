package conformance

import (
	"path/filepath"
	"strings"
	"testing"
)

const wardlePath = "k8s.io/sample-apiserver/pkg/apis"

// newWardle copies wardle into a module. Files that skip tells of stay out.
func newWardle(t testing.TB, skip func(base string) bool) string {
	t.Helper()
	dir := newModule(t)
	from := filepath.Join(moduleDir(t, "k8s.io/sample-apiserver"), "pkg", "apis")
	copyTree(t, from, filepath.Join(dir, "pkg", "apis"), skip, strings.NewReplacer(wardlePath, modulePath+"/pkg/apis"))
	return dir
}

// TestWardle: copies, conversions and defaults are upstream's, on fuzzed objects, under upstream's signatures.
func TestWardle(t *testing.T) {
	dir := newWardle(t, emitted.MatchString)
	run(t, dir, apigen(t), "build", "./...")
	for _, pkg := range []string{"wardle", "wardle/v1alpha1", "wardle/v1beta1"} {
		upstream := filepath.Join(moduleDir(t, "k8s.io/sample-apiserver"), "pkg", "apis", pkg)
		checkSignatures(t, upstream, filepath.Join(dir, "pkg", "apis", pkg))
	}
	copyTest(t, "compare", filepath.Join(dir, "compare"))
	copyTest(t, "wardle", filepath.Join(dir, "wardle"))
	goTest(t, dir, "./compare", "./wardle")
}

// TestWardleOverUpstream: upstream's generated files make no difference, and are replaced.
func TestWardleOverUpstream(t *testing.T) {
	clean := newWardle(t, emitted.MatchString)
	run(t, clean, apigen(t), "build", "./...")
	over := newWardle(t, func(string) bool { return false })
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
