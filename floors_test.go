// Package apigen has no code of its own: this directory holds the test of the house's floors.
package apigen

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

const module = "apigen.dev"

// TestFloors holds every package's imports, tests aside, against the two tables.
func TestFloors(t *testing.T) {
	for dir, p := range packages(t) {
		if exempt(dir) {
			continue
		}
		allowed, known := floors[dir]
		if !known {
			t.Errorf("%s stands on no floor: add it to the table", dir)
			continue
		}
		for _, imported := range p.imports {
			if own, ok := strings.CutPrefix(imported, module+"/"); ok {
				if !matches(own, allowed) {
					t.Errorf("%s imports %s, which the floors forbid", dir, own)
				}
				continue
			}
			for prefix, may := range holders {
				if (imported == prefix || strings.HasPrefix(imported, prefix+"/")) && !matches(dir, may) {
					t.Errorf("%s imports %s, which only %v may", dir, imported, may)
				}
			}
		}
	}
}

// exempt reports whether the table does not list a package: examples, fixtures, and this directory.
func exempt(dir string) bool {
	return dir == "." || strings.HasPrefix(dir, "examples/") || strings.HasPrefix(dir, "docs/") ||
		dir == "runtime/internal/shop" || strings.HasPrefix(dir, "runtime/internal/testbed") ||
		strings.HasPrefix(dir, "generator/internal/emit/") && strings.Contains(dir, "/internal/")
}

// TestFoldersHaveNoCycles: the folders that a reader sees import each other in one direction, as packages do.
func TestFoldersHaveNoCycles(t *testing.T) {
	imports := map[string]map[string]string{} // by folder, the folders that it imports, each with an import
	for dir, p := range packages(t) {
		if exempt(dir) {
			continue
		}
		from := folderOf(dir)
		for _, imported := range p.imports {
			own, ok := strings.CutPrefix(imported, module+"/")
			if to := folderOf(own); ok && to != from {
				if imports[from] == nil {
					imports[from] = map[string]string{}
				}
				imports[from][to] = dir + " imports " + own
			}
		}
	}
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(folder string, way []string)
	visit = func(folder string, way []string) {
		state[folder] = open
		for to, why := range imports[folder] {
			if state[to] == open {
				t.Errorf("a cycle of folders that ends at %s:\n%s", to, strings.Join(append(way, why), "\n"))
			} else if state[to] != done {
				visit(to, append(slices.Clip(way), why))
			}
		}
		state[folder] = done
	}
	for folder := range imports {
		if state[folder] != done {
			visit(folder, nil)
		}
	}
}

// folderOf returns the folder that a package is in for a reader of the tree: the one below generator or runtime, or
// below runtime/internal.
func folderOf(dir string) string {
	elements := strings.Split(dir, "/")
	deep := 2
	if len(elements) > 2 && elements[1] == "internal" {
		deep = 3
	}
	return strings.Join(elements[:min(deep, len(elements))], "/")
}

// TestHalvesAreApart: the generator and the runtime share nothing of ours but the leaf runtime/cel.
func TestHalvesAreApart(t *testing.T) {
	for dir, p := range packages(t) {
		for _, imported := range p.imports {
			own, ok := strings.CutPrefix(imported, module+"/")
			if ok && strings.HasPrefix(dir, "runtime/") && strings.HasPrefix(own, "generator") ||
				ok && strings.HasPrefix(dir, "generator") && strings.HasPrefix(own, "runtime/") &&
					own != "runtime/cel" {
				t.Errorf("%s imports %s", dir, own)
			}
		}
	}
}

// sharedByEmitters are the packages below generator/internal/emit that are no emitters: what files and emitters are,
// what prints Go declarations and files of clients from templates, and what tests emitters. An emitter may import them
// and no other.
var sharedByEmitters = []string{
	"generator/internal/emit", "generator/internal/emit/emittest", "generator/internal/emit/gocode",
	"generator/internal/emit/layout",
}

// TestEmittersAreApart: no emitter imports another one. What two of them need to know is decided in the plan.
func TestEmittersAreApart(t *testing.T) {
	for dir, p := range packages(t) {
		if !strings.HasPrefix(dir, "generator/internal/emit") || exempt(dir) {
			continue
		}
		for _, imported := range p.imports {
			own, ok := strings.CutPrefix(imported, module+"/")
			if ok && strings.HasPrefix(own, "generator/internal/emit") && !matches(own, sharedByEmitters) {
				t.Errorf("%s imports the emitter %s: decide in generator/internal/plan what both need", dir, own)
			}
		}
	}
}

// maxLines bounds a package: a reader takes it in at a few sittings.
const maxLines = 4000

// TestPackagesAreSmall: no package has more hand-written code than maxLines.
func TestPackagesAreSmall(t *testing.T) {
	for dir, p := range packages(t) {
		if p.lines > maxLines {
			t.Errorf("%s has %d lines, more than %d: divide it along its responsibilities", dir, p.lines, maxLines)
		}
	}
}

func matches(path string, patterns []string) bool {
	for _, pattern := range patterns {
		base, tree := strings.CutSuffix(pattern, "/...")
		if path == pattern || tree && (path == base || strings.HasPrefix(path, base+"/")) {
			return true
		}
	}
	return false
}

// pkg is what the tests hold a package to.
type pkg struct {
	imports []string
	// lines counts the lines of hand-written code, tests aside.
	lines int
}

// packages returns every package of the main module, by directory, without tests.
func packages(t *testing.T) map[string]pkg {
	t.Helper()
	found := map[string]pkg{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			name := entry.Name()
			if path != "." && (strings.HasPrefix(name, ".") || name == "testdata" || isModule(path)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		found[dir], err = found[dir].with(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// with adds a file to a package.
func (p pkg) with(path string) (pkg, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return p, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ImportsOnly)
	if err != nil {
		return p, err
	}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return p, err
		}
		p.imports = append(p.imports, imported)
	}
	sort.Strings(p.imports)
	if !strings.HasPrefix(filepath.Base(path), "zz_generated.") {
		p.lines += bytes.Count(text, []byte("\n"))
	}
	return p, nil
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// TestMakeNamesFoldersFirst: the go command wants its flag -C before all others.
func TestMakeNamesFoldersFirst(t *testing.T) {
	text, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	misplaced := regexp.MustCompile(`\$\(GO\) (test|vet|build) (-[^C\n].* )?-C\b`)
	found := 0
	for i, line := range strings.Split(string(text), "\n") {
		if m := misplaced.FindStringSubmatch(line); m != nil && m[2] != "" {
			t.Errorf("Makefile:%d: -C comes first: %s", i+1, line)
		} else if m != nil {
			found++
		}
	}
	if found < 3 {
		t.Errorf("%d commands name a folder", found)
	}
}

// TestSlowTestsExist: the Makefile leaves tests to `make test-slow` by their names, each of which a test has.
func TestSlowTestsExist(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^SLOW +:= ((?:.*\\\n)*.*)$`).FindSubmatch(makefile)
	if list == nil {
		t.Fatal("the Makefile has no list SLOW")
	}
	missing := map[string]bool{}
	for name := range strings.FieldsSeq(strings.ReplaceAll(string(list[1]), "\\\n", " ")) {
		missing[name] = true
	}
	err = filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for name := range missing {
			if bytes.Contains(text, []byte("\nfunc "+name+"(t *testing.T)")) {
				delete(missing, name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range missing {
		t.Errorf("the Makefile's list SLOW has %s, which is no test", name)
	}
}
