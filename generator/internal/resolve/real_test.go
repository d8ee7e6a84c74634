package resolve_test

import (
	"os"
	"path/filepath"
	"testing"

	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/model"
)

// TestWardle loads the sample API server's packages, unchanged, from the module cache.
func TestWardle(t *testing.T) {
	source := loadtest.ModuleDir(t, "k8s.io/sample-apiserver")
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "pkg/apis"), os.DirFS(filepath.Join(source, "pkg/apis"))); err != nil {
		t.Fatal(err)
	}
	loadtest.WriteModule(t, dir, "k8s.io/sample-apiserver")
	res := loadtest.Load(t, dir, "./pkg/apis/wardle/v1alpha1", "./pkg/apis/wardle/v1beta1", "./pkg/apis/wardle")
	if len(res.Warnings) > 0 {
		t.Errorf("warnings: %v", res.Warnings)
	}
	g := res.Program.Groups[0]
	if g.Name != "wardle.example.com" || g.GoName != "Wardle" || g.Internal == nil || len(g.Versions) != 2 ||
		g.Versions[0].Name != "v1beta1" {
		t.Fatalf("the group is %+v", g)
	}
	fischer, flunder := g.Resources[0], g.Resources[1]
	if fischer.Plural != "fischers" || !fischer.ClusterScoped || fischer.Status || fischer.ListKind != "FischerList" {
		t.Errorf("fischers are %+v", fischer)
	}
	if flunder.Plural != "flunders" || flunder.ClusterScoped || !flunder.Status ||
		flunder.Hub.Package != g.Internal || len(flunder.Versions) != 2 {
		t.Errorf("flunders are %+v", flunder)
	}
	for _, f := range g.Versions[1].Packages[0].Funcs {
		if f.Name == "Convert_v1alpha1_FlunderSpec_To_wardle_FlunderSpec" &&
			f.Params[1].Elem != g.Internal.Type("FlunderSpec") {
			t.Error("a hand-written conversion takes another type than the hub's")
		}
	}
}

// TestKubernetesAPI loads core/v1 and what belongs to it from the module cache.
func TestKubernetesAPI(t *testing.T) {
	source := loadtest.ModuleDir(t, "k8s.io/api")
	dir := t.TempDir()
	for _, name := range []string{"core", "apps"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(source, name))); err != nil {
			t.Fatal(err)
		}
	}
	loadtest.WriteModule(t, dir, "k8s.io/api")
	res := loadtest.Load(t, dir, "./core/v1", "./apps/v1")
	var core *model.Package
	for _, p := range res.Program.Packages {
		if p.Path == "k8s.io/api/core/v1" {
			core = p
		}
	}
	if core == nil || !core.HasGroup || core.Group != "" || len(core.Types) < 200 {
		t.Fatalf("core/v1 is %+v", core)
	}
	node, pod := core.Type("Node"), core.Type("Pod")
	if node.Kind == nil || !node.Kind.ClusterScoped || pod.Kind == nil || pod.Kind.ClusterScoped ||
		pod.Kind.ListType == nil {
		t.Error("nodes are cluster scoped, pods are not, and there are lists of pods")
	}
	if p := core.Type("Protocol"); !p.Enum {
		t.Errorf("Protocol is %+v", p)
	}
}
