package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFeatures: the page has a row for each feature that there is, says which of them stand in builtin.Standalone, and
// names values that compile: those of the snippet.
func TestFeatures(t *testing.T) {
	read := func(path string) string {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	values := regexp.MustCompile(`(?m)^\t\t(&?[a-z]+\.[A-Z][A-Za-z]*(?:\{\}|\(\))),`)
	listed := func(path string) (all []string) {
		for _, match := range values.FindAllStringSubmatch(read(path), -1) {
			all = append(all, match[1])
		}
		return all
	}
	compiled, standalone := listed("internal/snippets/everyfeature.go"), listed("../runtime/builtin/builtin.go")
	row := regexp.MustCompile("(?m)^\\| `(&?([a-z]+)\\.[^`]+)` \\| [^|]+ \\| (yes)? ?\\|")
	var rows, packages []string
	for _, match := range row.FindAllStringSubmatch(read("features.md"), -1) {
		rows, packages = append(rows, match[1]), append(packages, match[2])
		if got, want := match[3] == "yes", slices.Contains(standalone, match[1]); got != want {
			t.Errorf("%s stands in builtin.Standalone: %v", match[1], want)
		}
	}
	if !slices.Equal(rows, compiled) || len(standalone) < 15 {
		t.Errorf("the page has\n%q\nthe snippet\n%q\nand builtin.Standalone\n%q", rows, compiled, standalone)
	}
	files, err := filepath.Glob("../runtime/builtin/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, name := read(file), filepath.Base(filepath.Dir(file))
		made := strings.Contains(source, "func Feature() server.Feature")
		if (made || strings.Contains(source, ") AddFlags(")) && !slices.Contains(packages, name) {
			t.Errorf("%s has a feature, and the page has none of package %s", file, name)
		}
	}
}
