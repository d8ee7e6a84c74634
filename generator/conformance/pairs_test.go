package conformance

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// converting is how functions of conversions are named, generated or written by hand.
var converting = regexp.MustCompile(`^Convert_\w+_To_\w+$`)

// functions are what a package has of copies, defaults and conversions, generated or written by hand.
type functions struct {
	types       []string // those with DeepCopyInto
	defaults    []string
	conversions []string
}

// functionsOf reads the source of a package.
func functionsOf(t *testing.T, dir string) functions {
	t.Helper()
	var out functions
	notTests := func(i fs.FileInfo) bool { return !strings.HasSuffix(i.Name(), "_test.go") }
	pkgs, err := parser.ParseDir( //nolint:staticcheck // names are all that is asked for
		token.NewFileSet(), dir, notTests, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range pkgs {
		for _, file := range pkg.Files {
			for _, d := range file.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok {
					out.add(fn)
				}
			}
		}
	}
	for _, list := range [][]string{out.types, out.defaults, out.conversions} {
		slices.Sort(list)
	}
	return out
}

func (f *functions) add(fn *ast.FuncDecl) {
	name := fn.Name.Name
	switch {
	case fn.Recv != nil:
		if name == "DeepCopyInto" {
			f.addType(fn.Recv.List[0].Type)
		}
	case strings.HasPrefix(name, "SetObjectDefaults_"):
		f.defaults = append(f.defaults, name)
	case converting.MatchString(name) && scoped(fn.Type):
		f.conversions = append(f.conversions, name)
	}
}

// scoped reports whether a scheme can call a function, as opposed to a hand-written one that only such functions call:
// the last of three parameters is a conversion.Scope, and the result is an error.
func scoped(fn *ast.FuncType) bool {
	params := fn.Params.List
	if fn.Params.NumFields() != 3 || fn.Results.NumFields() != 1 {
		return false
	}
	last, ok := params[len(params)-1].Type.(*ast.SelectorExpr)
	return ok && last.Sel.Name == "Scope"
}

func (f *functions) addType(receiver ast.Expr) {
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	if id, ok := receiver.(*ast.Ident); ok && id.IsExported() {
		f.types = append(f.types, id.Name)
	}
}

// copiesOf is what functionsOf reads, as far as it is about copies.
func copiesOf(t *testing.T, dir string) functions {
	t.Helper()
	return functions{types: functionsOf(t, dir).types}
}

// pairList is the source that pairs functions of our packages with those of upstream's. Packages are import paths by
// upstream's, dirs their folders.
func pairList(t *testing.T, ours, dirs map[string]string, of func(*testing.T, string) functions) string {
	t.Helper()
	var imports, copies, defaults, conversions strings.Builder
	for i, theirs := range slices.Sorted(maps.Keys(ours)) {
		fns := of(t, dirs[theirs])
		if len(fns.types)+len(fns.defaults)+len(fns.conversions) == 0 {
			t.Errorf("%s: nothing to compare", theirs)
			continue
		}
		fmt.Fprintf(&imports, "\tours%d %q\n\ttheirs%d %q\n", i, ours[theirs], i, theirs)
		for _, name := range fns.types {
			fmt.Fprintf(&copies, "\t{new(ours%d.%s), new(theirs%d.%s)},\n", i, name, i, name)
		}
		for _, name := range fns.defaults {
			fmt.Fprintf(&defaults, "\t{ours%d.%s, theirs%d.%s},\n", i, name, i, name)
		}
		for _, name := range fns.conversions {
			fmt.Fprintf(&conversions, "\t{%q, pair{ours%d.%s, theirs%d.%s}},\n",
				path.Base(theirs)+"."+name, i, name, i, name)
		}
	}
	return fmt.Sprintf(`package pairs

import (
%s)

var copies = []pair{
%s}

var defaults = []pair{
%s}

var conversions = []struct {
	name string
	pair
}{
%s}
`, imports.String(), copies.String(), defaults.String(), conversions.String())
}

// comparePairs compares all of our packages below a folder of a module with upstream's, on fuzzed objects.
func comparePairs(t *testing.T, dir string, packages, dirs map[string]string, fillers ...string) {
	t.Helper()
	compareFunctions(t, dir, packages, dirs, functionsOf, fillers...)
}

// compareFunctions compares those functions that are asked for.
func compareFunctions(t *testing.T, dir string, packages, dirs map[string]string,
	of func(*testing.T, string) functions, fillers ...string) {
	t.Helper()
	for theirs, mine := range packages {
		if files := generated(t, dirs[theirs]); slices.ContainsFunc(files, func(f string) bool {
			return filepath.Dir(f) == dirs[theirs]
		}) {
			checkSignatures(t, dirs[theirs], filepath.Join(dir, strings.TrimPrefix(mine, modulePath)))
		}
	}
	copyTest(t, "compare", filepath.Join(dir, "compare"))
	copyTest(t, "pairs", filepath.Join(dir, "pairs"))
	for _, f := range fillers {
		copyTest(t, f, filepath.Join(dir, "pairs"))
	}
	write(t, filepath.Join(dir, "pairs", "list_test.go"), pairList(t, packages, dirs, of))
	goTest(t, dir, "./pairs")
}
