package docs

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// measuredWith is the compiler that the sizes of the page are of. Others make binaries of other sizes.
const measuredWith = "go1.26."

// TestFeatureSizes: a server without features, and what the largest feature adds to it, have the sizes on the page. The
// other features take as long to build each.
func TestFeatureSizes(t *testing.T) {
	page, err := os.ReadFile("features.md")
	if err != nil {
		t.Fatal(err)
	}
	lean := regexp.MustCompile(`a server without features,\s+which has (\d+) MB`).FindSubmatch(page)
	if lean == nil {
		t.Fatal("the page doesn't say how large a server without features is")
	}
	var largest featureRow
	adds := 0.0
	for _, row := range featureRows(t) {
		number, _, _ := strings.Cut(row.size, " MB")
		if n, err := strconv.ParseFloat(number, 64); err == nil && n > adds {
			largest, adds = row, n
		}
	}
	if !strings.HasPrefix(runtime.Version(), measuredWith) || runtime.GOOS+"/"+runtime.GOARCH != "linux/amd64" {
		t.Logf("the sizes are not compared: they were measured with %s on linux/amd64", measuredWith)
		return
	}
	without := sizeWith(t, "", "")
	if got := fmt.Sprintf("%.0f", without); got != string(lean[1]) {
		t.Errorf("a server without features has %.2f MB, and not %s", without, lean[1])
	}
	if got := sizeWith(t, largest.pkg, largest.value) - without; got < adds-0.15 || got > adds+0.15 {
		t.Errorf("%s adds %.2f MB, and not %.1f", largest.value, got, adds)
	}
}

// sizeWith returns the size of the code and data of a server with one feature or none, in MB.
func sizeWith(t *testing.T, pkg, value string) (size float64) {
	t.Helper()
	imported := ""
	if pkg != "" {
		imported = fmt.Sprintf("import %q\n", "apigen.dev/runtime/builtin/"+pkg)
	}
	dir := t.TempDir()
	source, overlay, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay"), filepath.Join(dir, "main")
	replaced, err := filepath.Abs("../runtime/server/testdata/lean/main.go")
	if err != nil {
		t.Fatal(err)
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{replaced: source}})
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{overlay: string(replace), source: "package main\n\n" + imported +
		"import \"apigen.dev/runtime/server\"\n\nfunc main() {\n\tserver.Main(server.Program{Name: \"lean\", " +
		"Features: []server.Feature{" + value + "}})\n}\n"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-overlay", overlay, "-o", binary,
		"../runtime/server/testdata/lean")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, name := range []string{".text", ".rodata", ".data", ".noptrdata"} {
		section := file.Section(name)
		if section == nil {
			t.Fatalf("the binary has no section %s", name)
		}
		size += float64(section.Size) / 1e6
	}
	return size
}
