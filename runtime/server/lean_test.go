package server

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// optional are modules and packages that only features bring, which a main names: a server without features links none
// of them. The protobuf types of OpenAPI come with packages of apimachinery that look harmless.
var optional = []string{
	"github.com/google/gnostic-models", "k8s.io/kube-openapi/pkg/validation",
	"k8s.io/apimachinery/pkg/util/managedfields", "k8s.io/apimachinery/pkg/util/strategicpatch",
	"github.com/coreos/go-oidc", "github.com/go-jose/go-jose", "github.com/google/cel-go", "golang.org/x/oauth2",
	"go.opentelemetry.io/otel/exporters", "go.opentelemetry.io/otel/sdk", "gopkg.in/natefinch/lumberjack.v2",
	"k8s.io/api",
}

// TestLeanServer: a server links no module of a feature, and is smaller than it was before there were features.
func TestLeanServer(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for imported := range strings.FieldsSeq(string(out)) {
		for _, prefix := range optional {
			if imported == prefix || strings.HasPrefix(imported, prefix+"/") {
				t.Errorf("runtime/server links %s", imported)
			}
		}
	}
	// The size is that of the code and of the data. The tables beside them hold the paths of source files, so that they
	// depend on the folders of the module cache and of the checkout. It was measured with one compiler; others make
	// binaries of other sizes.
	const compiler, size, growth = "go1.26", 14_909_277, 198_000
	if !strings.HasPrefix(runtime.Version(), compiler+".") || runtime.GOOS+"/"+runtime.GOARCH != "linux/amd64" {
		t.Logf("the size is not compared: it was measured with %s on linux/amd64", compiler)
		return
	}
	binary := filepath.Join(t.TempDir(), "lean")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", binary,
		"./testdata/lean")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := sizeOfSections(t, binary, ".text", ".rodata", ".data", ".noptrdata")
	t.Logf("%d bytes, %+d", got, int64(got)-size)
	if got > size+growth {
		t.Errorf("a server without features has %d bytes, more than %d: what grew belongs in a feature", got,
			size+growth)
	}
}

// sizeOfSections returns the sum of the sizes of a binary's sections, each of which the binary must have.
func sizeOfSections(t *testing.T, binary string, names ...string) uint64 {
	t.Helper()
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var sum uint64
	for _, name := range names {
		section := f.Section(name)
		if section == nil {
			t.Fatalf("the server's binary has no section %s", name)
		}
		sum += section.Size
	}
	return sum
}
