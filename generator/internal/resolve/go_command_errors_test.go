package resolve_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/generator/internal/load"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/program"
)

// TestComplaint: where the go command itself fails, its users read what it says, and nothing that only follows from it.
func TestComplaint(t *testing.T) {
	const text = `
-- api/v1/types.go --
// +groupName=shop.example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
type Lamp struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}
`
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(t.TempDir(), "go.work")
	if err := os.WriteFile(work, []byte("go 1.26.0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, env, want string }{
		{"platform", "GOARCH=foo", "unsupported GOOS/GOARCH pair"},
		{"cache", "GOCACHE=relative", "GOCACHE is not an absolute path"},
		{"unwritable cache", "GOCACHE=" + filepath.Join(file, "cache"), "must be able to write to its cache and to " +
			"the folder for temporary files (GOCACHE, GOTMPDIR)"},
		{"temporary", "GOTMPDIR=" + nowhere, "creating work dir: stat " + nowhere},
		{"flags", "GOFLAGS=-nope", "unknown flag -nope"},
		{"path", "GOPATH=relative", "GOPATH entry is relative"},
		{"vendor", "GOFLAGS=-mod=vendor", "not marked as explicit in vendor/modules.txt and 1"},
		{"vendor's remedy", "GOFLAGS=-mod=vendor", "To sync the vendor directory, run: go mod vendor"},
		{"workspace", "GOFLAGS= GOWORK=" + work, "does not contain modules listed in go.work or their selected " +
			"dependencies: run apigen in the folder of one of them, or name them"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := program.Read(context.Background(), program.Options{Options: load.Options{
				Dir: loadtest.Dir(t, text),
				Env: append(loadtest.Env("-mod=mod"),
					strings.Fields(c.env)...),
			}})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "exit status") {
				t.Errorf("more than what the go command says: %v", err)
			}
		})
	}
}

func TestNoGoCommand(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := program.Read(context.Background(), program.Options{Options: load.Options{Dir: t.TempDir()}})
	if err == nil || !strings.HasSuffix(err.Error(), "it isn't in the PATH: install Go, or add its folder bin to "+
		"the PATH") {
		t.Fatalf("got %v", err)
	}
}
