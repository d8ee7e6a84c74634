package against_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"apigen.dev/generator/internal/against"
	"apigen.dev/generator/internal/loadtest"
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

// TestAgainstGit checks that Compare reads the old state from git, from the folder of the repository that
// corresponds to the module's, and that it changes neither the work tree nor the repository.
func TestAgainstGit(t *testing.T) {
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
		res, err := against.Compare(context.Background(),
			against.Options{Dir: from, Against: "HEAD", Env: loadtest.Env()})
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

// TestRefusals: what can't be compared with is told by the name that the user gave it.
func TestRefusals(t *testing.T) {
	dir := loadtest.Dir(t, widget)
	gitIn(t, dir, "init", "-q")
	broken := t.TempDir()
	loadtest.WriteModule(t, broken, "example.com/test")
	if err := os.WriteFile(filepath.Join(broken, "a.go"),
		[]byte("// +groupName=a.example.com\npackage a\n\n// +kubebuilder:object:generate=true\n"+
			"type T struct{ X Y }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for earlier, want := range map[string]string{
		"nowhere":        "--against nowhere is neither a folder nor a commit",
		"--output=a.txt": "is neither a folder nor a commit",
		broken:           "doesn't load:\na.go:5:18:",
	} {
		_, err := against.Compare(context.Background(),
			against.Options{Dir: dir, Against: earlier, Env: loadtest.Env()})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", earlier, err, want)
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

// TestSubmodules checks that Compare reads packages in submodules at the commit that the old state names, and
// packages of modules beside the repository as they are on disk.
func TestSubmodules(t *testing.T) {
	commit := func(dir string) {
		gitIn(t, dir, "add", "-A")
		gitIn(t, dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "a commit")
	}
	around := t.TempDir()
	shared, beside, dir := filepath.Join(around, "shared"), filepath.Join(around, "beside"),
		filepath.Join(around, "shop")
	inner := "-- go.mod --\nmodule example.com/%s\n\ngo 1.26.0\n-- %[1]s.go --\n// Package %[1]s is.\npackage %[1]s\n" +
		"\ntype Inner struct {\n\tX string `json:\"x\"`\n}\n"
	unpack(t, shared, fmt.Sprintf(inner, "shared"))
	gitIn(t, shared, "init", "-q")
	commit(shared)
	unpack(t, beside, fmt.Sprintf(inner, "beside"))
	typesWith := strings.NewReplacer(
		"import metav1", "import \"example.com/beside\"\nimport \"example.com/shared\"\nimport metav1",
		"Color string",
		"Shared shared.Inner `json:\"shared\"`\n\tBeside beside.Inner `json:\"beside\"`\n\tColor string")
	unpack(t, dir, typesWith.Replace(widget))
	loadtest.WriteModule(t, dir, "example.com/test")
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	unpack(t, dir, "-- go.mod --\n"+string(mod)+
		"\nrequire (\n\texample.com/shared v0.0.0\n\texample.com/beside v0.0.0\n)\n\n"+
		"replace example.com/shared => ./third/shared\n\nreplace example.com/beside => ../beside\n")
	gitIn(t, dir, "init", "-q")
	gitIn(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../shared", "third/shared")
	commit(dir)
	unpack(t, filepath.Join(dir, "third", "shared"), strings.ReplaceAll(fmt.Sprintf(inner, "shared"), "\"x\"", "\"y\""))
	compare := func() (*against.Result, error) {
		return against.Compare(context.Background(), against.Options{Dir: dir, Against: "HEAD",
			Env: loadtest.Env("-mod=mod")})
	}
	res, err := compare()
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Findings) != 1 ||
		res.Findings[0].Rule.ID != "FIELD_RENAMED" && res.Findings[0].Rule.ID != "FIELD_REMOVED" ||
		!strings.HasPrefix(res.Findings[0].Path, "shared") {
		t.Errorf("found %v", res.Findings)
	}
	if err := os.Remove(filepath.Join(dir, "third", "shared", ".git")); err != nil {
		t.Fatal(err)
	}
	if _, err := compare(); err == nil ||
		!strings.Contains(err.Error(), "of the submodule "+filepath.Join("third", "shared")+
			" that commit is not here: git submodule update --init") {
		t.Errorf("without the submodule: %v", err)
	}
}

// unpack writes the files of a txtar archive into a folder.
func unpack(t *testing.T, dir, archive string) {
	t.Helper()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
