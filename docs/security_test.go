package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSecurityNamesTests: each paragraph of SECURITY.md that says what holds names the tests that hold it, and each of
// them is there.
func TestSecurityNamesTests(t *testing.T) {
	page, err := os.ReadFile("../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := testsOf(t, "../runtime")
	named := regexp.MustCompile("`([a-z]+\\.Test[A-Za-z0-9]+)`")
	found := 0
	for _, section := range strings.Split(string(page), "\n### ")[1:] {
		section, _, _ = strings.Cut(section, "\n## ")
		title, text, _ := strings.Cut(section, "\n")
		for _, item := range strings.Split(text, "\n- ")[1:] {
			names := named.FindAllStringSubmatch(item, -1)
			found += len(names)
			for _, name := range names {
				if !tests[name[1]] {
					t.Errorf("%s: there is no test %s", title, name[1])
				}
			}
		}
		_, holds, ok := strings.Cut(text, "Holds by default:\n")
		if !ok {
			continue
		}
		holds, _, _ = strings.Cut(holds, "Does not hold:")
		for _, item := range strings.Split(holds, "\n- ")[1:] {
			if !named.MatchString(item) {
				t.Errorf("%s: which test holds this?\n%s", title, item)
			}
		}
	}
	if found < 20 {
		t.Errorf("the page names %d tests", found)
	}
}

// testsOf returns the tests of the packages in a folder, by the last part of the package's path.
func testsOf(t *testing.T, folder string) map[string]bool {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)`)
	tests := map[string]bool{}
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		for _, found := range function.FindAllSubmatch(content, -1) {
			tests[filepath.Base(filepath.Dir(path))+"."+string(found[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}
