package conversion

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const testdata = "apigen.dev/generator/internal/emit/conversion/testdata"

// TestGuards changes types below generated casts: the generated file must no longer compile.
func TestGuards(t *testing.T) {
	tests := []struct{ name, file, old, new string }{
		{"none", "shop/types.go", "", ""},
		{"basic", "shop/types.go", "type Size int32", "type Size int64"},
		{"same size", "shop/v1beta1/types.go", "type Size int32", "type Size uint32"},
		{"more fields", "shop/types.go", "Parts map[string]Part\n", "Parts map[string]Part\n\tMore bool\n"},
		{"renamed", "shop/types.go", "Tags []string", "Labels []string"},
		{"order", "shop/types.go", "Name     string\n\tChildren []Tree", "Children []Tree\n\tName string"},
		{"pointer", "shop/v1beta1/types.go", "Parent   *Tree  ", "Parent []Tree"},
		{"map", "shop/v1beta1/types.go", "Parts map[string]Part", "Parts map[Color]Part"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
				t.Fatal(err)
			}
			replace(t, filepath.Join(dir, test.file), test.old, test.new)
			errs := check(t, dir, "shop/v1beta1")
			if drifted := test.old != ""; drifted != (len(errs) > 0) {
				t.Fatalf("drifted is %v, errors are %v", drifted, errs)
			}
			for _, err := range errs {
				if !strings.Contains(err.Error(), "zz_generated.conversion.go") {
					t.Errorf("the change is wrong by itself: %v", err)
				}
			}
		})
	}
}

func replace(t *testing.T, file, before, after string) {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(src), before) {
		t.Fatalf("%s has no %q", file, before)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(src), before, after, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// check type-checks a package of a copy of testdata and returns the errors.
func check(t *testing.T, dir, pkg string) []error {
	t.Helper()
	files, err := exports()
	if err != nil {
		t.Fatal(err)
	}
	c := &checker{dir: dir, fset: token.NewFileSet(), checked: map[string]*types.Package{}}
	c.deps = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(files[path])
	})
	if _, err := c.Import(testdata + "/" + pkg); err != nil {
		t.Fatal(err)
	}
	return c.errs
}

// exports are the compiled packages that testdata imports.
var exports = sync.OnceValues(func() (map[string]string, error) {
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}",
		"./testdata/shop/v1beta1").Output()
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		files[path] = file
	}
	return files, nil
})

// checker imports packages of testdata from source, and others as they were compiled.
type checker struct {
	dir     string
	fset    *token.FileSet
	deps    types.Importer
	checked map[string]*types.Package
	errs    []error
}

func (c *checker) Import(path string) (*types.Package, error) {
	sub, ok := strings.CutPrefix(path, testdata)
	if !ok {
		return c.deps.Import(path)
	}
	if p := c.checked[path]; p != nil {
		return p, nil
	}
	names, err := filepath.Glob(filepath.Join(c.dir, sub, "*.go"))
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(c.fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	conf := types.Config{Importer: c, Error: func(err error) { c.errs = append(c.errs, err) }}
	p, _ := conf.Check(path, c.fset, files, nil)
	c.checked[path] = p
	return p, nil
}
