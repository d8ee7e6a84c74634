package conformance

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// newServingModule makes a module that serves all kinds of the core group, of apps in three versions, and leases, with
// the types of k8s.io/api.
func newServingModule(t testing.TB) string {
	t.Helper()
	dir := newServerModule(t)
	version := regexp.MustCompile(`k8s\.io/api (v\S+)`).FindStringSubmatch(read(t, "go.mod"))[1]
	mod := filepath.Join(dir, "go.mod")
	write(t, mod, read(t, mod)+"\nrequire k8s.io/api "+version+"\n")
	sum := filepath.Join(dir, "go.sum")
	write(t, sum, read(t, sum)+read(t, "go.sum"))
	copyTest(t, "serve", dir)
	return dir
}

// TestServe serves the types of k8s.io/api without a change: the generated code compiles, converts and defaults.
func TestServe(t *testing.T) {
	dir := newServingModule(t)
	if out := run(t, dir, apigen(t), "build", "./..."); strings.Contains(out, "warning") {
		t.Error(out)
	}
	goTest(t, dir, "./roundtrip")
}

// BenchmarkServe is the time that a build of them takes, whose dependencies are compiled.
func BenchmarkServe(b *testing.B) {
	dir := newServingModule(b)
	run(b, dir, apigen(b), "build", "./...")
	doc := filepath.Join(dir, "apis", "apps", "v1", "doc.go")
	text := read(b, doc)
	for i := 0; b.Loop(); i++ {
		write(b, doc, fmt.Sprintf("%s// %d\n", text, i)) // unchanged input is not even loaded
		run(b, dir, apigen(b), "build", "./...")
	}
}

// TestServeProjects serves the types of other projects from their own packages, whatever registration these declare and
// however deeply the types nest: the generated code compiles, and round-trips.
func TestServeProjects(t *testing.T) {
	dir := newModuleOf(t, "crd")
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	mod := filepath.Join(dir, "go.mod")
	write(t, mod, read(t, mod)+"\nrequire apigen.dev v0.0.0\n\nreplace apigen.dev => "+filepath.ToSlash(root)+"\n")
	for folder, pkg := range map[string]string{
		"policy/v1alpha2": "sigs.k8s.io/network-policy-api/apis/v1alpha2",
		"karpenter/v1":    "sigs.k8s.io/karpenter/pkg/apis/v1",
		"cluster/v1beta2": "sigs.k8s.io/cluster-api/api/core/v1beta2",
	} {
		write(t, filepath.Join(dir, "apis", folder, "doc.go"),
			fmt.Sprintf("// +apigen:serve=%s\npackage %s\n", pkg, filepath.Base(folder)))
	}
	write(t, filepath.Join(dir, "apis", "apis.go"), "// +apigen:groups\npackage apis\n")
	run(t, dir, apigen(t), "build", "./...")
	goTest(t, dir, "./apis/...")
}

// kindsOfKubernetes are all stable kinds of k8s.io/api that kube-apiserver serves, in testdata/kubernetes.
const kindsOfKubernetes = "kubernetes"

// newKubernetes makes a module that serves them.
func newKubernetes(t testing.TB) string {
	t.Helper()
	dir := newServingModule(t)
	for _, other := range []string{"apis", "roundtrip"} {
		if err := os.RemoveAll(filepath.Join(dir, other)); err != nil {
			t.Fatal(err)
		}
	}
	copyTest(t, kindsOfKubernetes, dir)
	return dir
}

// TestKubernetes serves the stable kinds of Kubernetes by markers and functions: kubectl creates and lists each kind.
// What an author writes for them is bounded.
func TestKubernetes(t *testing.T) {
	dir := newKubernetes(t)
	if out := run(t, dir, apigen(t), "build", "./..."); strings.Contains(out, "warning") {
		t.Error(out)
	}
	goTest(t, dir, "./apis")
	const most = 1200
	lines, markers := 0, 0
	root := filepath.Join("testdata", kindsOfKubernetes)
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text := read(t, path)
		lines, markers = lines+strings.Count(text, "\n"), markers+strings.Count(text, "\n// +")
		return nil
	})
	if err != nil || lines == 0 || lines >= most {
		t.Errorf("%d lines are written by hand, %d of them markers, and %d are too many: %v", lines, markers, most, err)
	}
}

// TestVersionOfSeveralPackages serves a version whose kinds two packages declare, and an older one that has all in one.
func TestVersionOfSeveralPackages(t *testing.T) {
	dir := newServerModule(t)
	copyTest(t, "severalpackages", dir)
	if out := run(t, dir, apigen(t), "build", "--strict", "./..."); strings.Contains(out, "warning") {
		t.Error(out)
	}
	goTest(t, dir, "./apis/...")
	for _, plural := range []string{"lamps", "tools"} {
		crd := read(t, filepath.Join(dir, "config", "crd", "shop.example.com_"+plural+".yaml"))
		if strings.Count(crd, "\n    served: true\n") != 2 {
			t.Errorf("the definition of %s has not both versions:\n%s", plural, crd)
		}
	}
}
