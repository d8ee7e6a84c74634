package resolve_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"apigen.dev/generator/internal/loadtest"
)

// TestVersionsInSeveralFolders: a group whose versions are spread over folders is one group for each folder, where no
// server and no clients are made of it.
func TestVersionsInSeveralFolders(t *testing.T) {
	file := func(dir, version, kind string) string {
		return "-- " + dir + "/" + version + "/types.go --\n// +groupName=shop.example.com\n" +
			"// +kubebuilder:object:generate=true\npackage " + version + `

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
type ` + kind + ` struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}
`
	}
	dir := loadtest.Dir(t, file("api", "v1", "Widget")+file("api", "v2", "Widget")+file("exp/api", "v1",
		"Gadget")+file("exp/api", "v2", "Gadget"))
	mod := filepath.Join(dir, "go.mod")
	text, err := os.ReadFile(mod)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mod, regexp.MustCompile(`(?m)^(require|replace) apigen.dev .*$`).ReplaceAll(text, nil),
		0o644); err != nil {
		t.Fatal(err)
	}
	res := loadtest.Load(t, dir)
	groups := res.Program.Groups
	if len(groups) != 2 {
		t.Fatalf("there are %d groups", len(groups))
	}
	for i, kind := range []string{"Widget", "Gadget"} {
		g := groups[i]
		if g.Name != "shop.example.com" || len(g.Versions) != 2 || len(g.Resources) != 1 ||
			g.Resources[0].Kind != kind || len(g.Resources[0].Versions) != 2 {
			t.Errorf("group %d is %+v", i, g)
		}
	}
}
