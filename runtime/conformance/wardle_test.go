package conformance

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "bring apis/wardle up to date with upstream and the generator")

// apis/wardle is what upstream wrote by hand, import paths aside, and what apigen generates for it: nothing else.
// `go test -run TestWardle -update .` makes it so.
func TestWardle(t *testing.T) {
	var module struct{ Dir string }
	// Unlike go list -m, this downloads the module where the cache doesn't have it.
	out := goRun(t, "mod", "download", "-json", "k8s.io/sample-apiserver")
	if err := json.Unmarshal([]byte(out), &module); err != nil || module.Dir == "" {
		t.Fatalf("the folder of k8s.io/sample-apiserver: %v\n%s", err, out)
	}
	from := filepath.Join(module.Dir, "pkg", "apis", "wardle")
	for _, pkg := range []string{"", "v1alpha1", "v1beta1"} {
		files, err := filepath.Glob(filepath.Join(from, pkg, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no files: %v", from, err)
		}
		for _, file := range files {
			if base := filepath.Base(file); !strings.HasPrefix(base, "zz_generated.") {
				checkCopy(t, file, filepath.Join("apis", "wardle", pkg, base))
			}
		}
	}
	if *update {
		goRun(t, "tool", "apigen", "build", "./apis/...")
	}
	goRun(t, "tool", "apigen", "build", "--check", "./apis/...")
}

func checkCopy(t *testing.T, from, to string) {
	t.Helper()
	upstream, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	want, err := format.Source(bytes.ReplaceAll(upstream, []byte("k8s.io/sample-apiserver/pkg/apis"),
		[]byte("apigen.dev/runtime/conformance/apis")))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(to, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(to); err != nil || !bytes.Equal(want, got) {
		t.Errorf("%s is not upstream's: %v", to, err)
	}
}

// goRun runs the go command in this module.
func goRun(t *testing.T, arguments ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), "go", arguments...)
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s%s", strings.Join(arguments, " "), err, out, stderr.String())
	}
	return string(out)
}
