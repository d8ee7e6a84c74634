package conformance

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// checkSignatures holds the functions and methods of the generated files of a package to upstream's: none may be
// missing, none may have another signature. Upstream also writes private functions that convert nothing, for types that
// it doesn't support; ours has none of those.
func checkSignatures(t *testing.T, upstream, mine string) {
	t.Helper()
	want, got := signatures(t, upstream), signatures(t, mine)
	if len(want) == 0 {
		t.Errorf("%s: no generated functions", upstream)
	}
	for name, signature := range want {
		switch {
		case got[name] == "":
			t.Errorf("%s: %s is missing", mine, name)
		case got[name] != signature:
			t.Errorf("%s: %s is %s, upstream's is %s", mine, name, got[name], signature)
		}
	}
}

// signatures are the functions of generated files, by name, receivers included.
func signatures(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		if !emitted.MatchString(e.Name()) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil,
			parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		unalias(file)
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && !convertsNothing(fn) {
				all[functionName(fn)] = text(t, fn.Type)
			}
		}
	}
	return all
}

// convertsNothing tells a private function of a conversion that does nothing but return.
func convertsNothing(fn *ast.FuncDecl) bool {
	return strings.HasPrefix(fn.Name.Name, "autoConvert_") && len(fn.Body.List) == 1
}

func functionName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	var recv bytes.Buffer
	_ = printer.Fprint(&recv, token.NewFileSet(), fn.Recv.List[0].Type)
	return recv.String() + "." + fn.Name.Name
}

func text(t *testing.T, node any) string {
	t.Helper()
	var out bytes.Buffer
	if err := printer.Fprint(&out, token.NewFileSet(), node); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(out.String(), "interface{}", "any")
}

// unalias replaces the names of imports by their paths' last elements.
func unalias(file *ast.File) {
	names := map[string]string{}
	for _, i := range file.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err == nil && i.Name != nil {
			names[i.Name.Name] = path.Base(p)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok && names[id.Name] != "" {
				id.Name = names[id.Name]
			}
		}
		return true
	})
}
