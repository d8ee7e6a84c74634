package docs

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// apiFile lists what users can name of the generator and of the runtime.
const apiFile = "reference/api.txt"

// mostOfGenerator bounds the constants, functions, types and variables that users can name of the generator: they run a
// command.
const mostOfGenerator = 20

// mostOfRuntime bounds those of the runtime, without the ready-made groups: what the runtime alone names is internal.
const mostOfRuntime = 300

// TestAPI holds the exported names of the public packages of the two halves against a file, in which each of them is a
// promise, and counts them. With -update, it writes the file.
func TestAPI(t *testing.T) {
	generator := publicNames(t, "../generator")
	if n := countDeclared(generator); n > mostOfGenerator {
		t.Fatalf("the generator exports %d names, more than %d: which of them do users need?", n, mostOfGenerator)
	}
	runtime := publicNames(t, "../runtime")
	own := slices.DeleteFunc(slices.Clone(runtime), func(name string) bool {
		return strings.HasPrefix(name, "apigen.dev/runtime/builtin")
	})
	if n := countDeclared(own); n > mostOfRuntime {
		t.Fatalf("the runtime exports %d names, more than %d: which of them do users need?", n, mostOfRuntime)
	}
	names := slices.Concat(generator, runtime)
	slices.Sort(names)
	got := []byte(strings.Join(names, "\n") + "\n")
	if *update {
		if err := os.WriteFile(apiFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(apiFile)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(want, got) {
		return
	}
	listed := strings.Split(strings.TrimSuffix(string(want), "\n"), "\n")
	for _, name := range names {
		if !slices.Contains(listed, name) {
			t.Errorf("%s is new: is it to stay? `make api` adds it to docs/%s", name, apiFile)
		}
	}
	for _, name := range listed {
		if !slices.Contains(names, name) {
			t.Errorf("%s is gone, on which users may depend; `make api` takes it from docs/%s", name, apiFile)
		}
	}
}

// publicNames returns the exported names of the packages in a folder and below that users can import.
func publicNames(t *testing.T, root string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
			return filepath.SkipDir
		}
		if name := entry.Name(); name == "internal" || name == "testdata" || name == "faults" || name == "planted" {
			return filepath.SkipDir
		}
		found, err := exportedNames(path)
		names = append(names, found...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// countDeclared returns how many of the names are declared at the top of a file: methods and fields are not.
func countDeclared(names []string) int {
	n := 0
	for _, name := range names {
		if kind := strings.Fields(name)[1]; kind != "method" && kind != "field" {
			n++
		}
	}
	return n
}

// exportedNames returns the exported names of the package in a folder, of hand-written files: constants, variables,
// functions, types, and the methods and fields of these.
func exportedNames(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	path := "apigen.dev/" + strings.TrimPrefix(filepath.ToSlash(dir), "../")
	var names []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(filepath.Base(name), "zz_generated.") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if file.Name.Name == "main" {
			continue
		}
		ast.FileExports(file)
		for _, declaration := range file.Decls {
			for _, name := range namesOf(declaration) {
				names = append(names, path+" "+name)
			}
		}
	}
	return names, nil
}

// namesOf returns the names that an exported declaration makes, each after its kind.
func namesOf(declaration ast.Decl) []string {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{"func " + d.Name.Name}
		}
		return []string{"method " + receiver(d.Recv.List[0].Type) + "." + d.Name.Name}
	case *ast.GenDecl:
		var names []string
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range s.Names {
					names = append(names, fmt.Sprint(d.Tok, " ", name.Name))
				}
			case *ast.TypeSpec:
				names = append(names, "type "+s.Name.Name)
				names = append(names, members(s)...)
			}
		}
		return names
	}
	return nil
}

// members returns the fields of a struct, and the methods of an interface.
func members(s *ast.TypeSpec) []string {
	var fields *ast.FieldList
	kind := "field "
	switch t := s.Type.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields, kind = t.Methods, "method "
	default:
		return nil
	}
	var names []string
	for _, field := range fields.List {
		for _, name := range field.Names {
			names = append(names, kind+s.Name.Name+"."+name.Name)
		}
	}
	return names
}

func receiver(e ast.Expr) string {
	switch t := e.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}
