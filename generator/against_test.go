package generator_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/generator"
	"apigen.dev/generator/loadtest"
)

const widget = `-- apis/v1/types.go --
// +groupName=shop.example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Widget is one.
//
// +genclient
// +kubebuilder:object:root=true
type Widget struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	Size  int32  ` + "`json:\"size,omitempty\"`" + `
	Color string ` + "`json:\"color,omitempty\"`" + `
}
`

// TestCompatAgainstGit: the old state is what git has, in the folder of the repository that corresponds to ours, and neither
// the work tree nor the repository is touched.
func TestCompatAgainstGit(t *testing.T) {
	dir := loadtest.Dir(t, widget)
	gitIn(t, dir, "init", "-q")
	gitIn(t, dir, "add", "-A")
	gitIn(t, dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "first")
	file := filepath.Join(dir, "apis", "v1", "types.go")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(data), "\tColor string `json:\"color,omitempty\"`\n", "", 1)
	if err := os.WriteFile(file, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	before := gitIn(t, dir, "status", "--porcelain")
	for _, from := range []string{dir, filepath.Join(dir, "apis")} {
		res, err := generator.Compat(context.Background(), generator.CompatOptions{Dir: from, Against: "HEAD", Env: append(os.Environ(), "GOPROXY=off", "GOWORK=off")})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Findings) != 1 || res.Findings[0].Rule.ID != "FIELD_REMOVED" || res.Findings[0].Path != "color" {
			t.Errorf("in %s: found %v", from, res.Findings)
		}
		if _, err := os.Stat(res.OldDir); err == nil {
			t.Errorf("%s was left behind", res.OldDir)
		}
	}
	if after := gitIn(t, dir, "status", "--porcelain"); after != before {
		t.Errorf("git status was\n%sand is\n%s", before, after)
	}
}

// TestCompatRefusals: what can't be compared with is told by the name that the user gave it.
func TestCompatRefusals(t *testing.T) {
	dir := loadtest.Dir(t, widget)
	gitIn(t, dir, "init", "-q")
	broken := t.TempDir()
	loadtest.WriteModule(t, broken, "example.com/test")
	if err := os.WriteFile(filepath.Join(broken, "a.go"), []byte("// +groupName=a.example.com\npackage a\n\n// +kubebuilder:object:generate=true\ntype T struct{ X Y }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for against, want := range map[string]string{
		"nowhere":        "--against nowhere is neither a folder nor a commit",
		"--output=a.txt": "is neither a folder nor a commit",
		broken:           "doesn't load:\na.go:5:18:",
	} {
		_, err := generator.Compat(context.Background(), generator.CompatOptions{Dir: dir, Against: against, Env: append(os.Environ(), "GOPROXY=off", "GOWORK=off")})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", against, err, want)
		}
	}
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}
