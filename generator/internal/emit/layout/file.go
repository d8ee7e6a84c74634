// Package layout has what the emitters of clients share: Go files that are written from templates. It knows the plan,
// emit and the templates.
package layout

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan/clientset"
	"apigen.dev/templates"
)

// usual are the packages that client files import, by the names under which they do. None is a plural in small letters,
// as the types that implement clients are.
var usual = map[string]string{
	"apitypes":      "k8s.io/apimachinery/pkg/types",
	"apply":         "k8s.io/client-go/util/apply",
	"cache":         "k8s.io/client-go/tools/cache",
	"context":       "context",
	"discovery":     "k8s.io/client-go/discovery",
	"fakediscovery": "k8s.io/client-go/discovery/fake",
	"flowcontrol":   "k8s.io/client-go/util/flowcontrol",
	"fmt":           "fmt",
	"gentype":       "k8s.io/client-go/gentype",
	"http":          "net/http",
	"json":          "encoding/json",
	"labels":        "k8s.io/apimachinery/pkg/labels",
	"listers":       "k8s.io/client-go/listers",
	"managedfields": "k8s.io/apimachinery/pkg/util/managedfields",
	"metav1":        "k8s.io/apimachinery/pkg/apis/meta/v1",
	"reflect":       "reflect",
	"rest":          "k8s.io/client-go/rest",
	"runtime":       "k8s.io/apimachinery/pkg/runtime",
	"schema":        "k8s.io/apimachinery/pkg/runtime/schema",
	"serializer":    "k8s.io/apimachinery/pkg/runtime/serializer",
	"sync":          "sync",
	"testing":       "k8s.io/client-go/testing",
	"time":          "time",
	"typed":         "sigs.k8s.io/structured-merge-diff/v6/typed",
	"utilruntime":   "k8s.io/apimachinery/pkg/util/runtime",
	"wait":          "k8s.io/apimachinery/pkg/util/wait",
	"watch":         "k8s.io/apimachinery/pkg/watch",
}

// ApplyMeta is the package with the apply configurations of apimachinery's metadata.
const ApplyMeta = "k8s.io/client-go/applyconfigurations/meta/v1"

// Imports are the packages that client files import, those of a module's own types and of the clients aside.
func Imports() []string {
	return append(slices.Sorted(maps.Values(usual)), ApplyMeta)
}

// File is a Go file of a client package under construction. What it imports is what its text uses, of the usual
// packages and of those that Import names.
type File struct {
	bytes.Buffer
	program   *model.Program
	set       *clientset.Set
	path, doc string
	name      string
	base      string
	imports   map[string]string
	byPath    map[string]string
}

// Add adds text.
func (f *File) Add(parts ...string) {
	for _, p := range parts {
		f.Buffer.WriteString(p)
	}
}

// Import tells under which name a package can be used.
func (f *File) Import(alias, path string) {
	f.imports[alias] = path
	f.byPath[path] = alias
}

// ImportAll is Import for packages by their names.
func (f *File) ImportAll(byAlias map[string]string) {
	for alias, path := range byAlias {
		f.Import(alias, path)
	}
}

// Render returns the formatted file.
func (f *File) Render() (emit.File, error) {
	var src bytes.Buffer
	src.WriteString(emit.Header(f.program) + "\n\n")
	for line := range strings.Lines(f.doc) {
		src.WriteString("// " + strings.TrimSpace(line) + "\n")
	}
	src.WriteString("package " + f.name + "\n\n")
	f.writeImports(&src)
	src.Write(f.Bytes())
	content, err := format.Source(src.Bytes())
	if err != nil {
		return emit.File{}, fmt.Errorf("%s/%s: emitted code does not parse: %w", f.path, f.base, err)
	}
	dir := filepath.Join(f.set.Dir, filepath.FromSlash(strings.TrimPrefix(f.path, f.set.Path)))
	return emit.File{Package: f.path, Dir: dir, PackageName: f.name, Name: f.base, Content: content}, nil
}

func (f *File) writeImports(out *bytes.Buffer) {
	used := qualifiers(f.Bytes())
	var first, second []string
	for alias, p := range f.imports {
		if !used[alias] || p == f.path {
			continue
		}
		spec := fmt.Sprintf("\t%q", p)
		if path.Base(p) != alias {
			spec = fmt.Sprintf("\t%s %q", alias, p)
		}
		if element, _, _ := strings.Cut(p, "/"); strings.Contains(element, ".") {
			second = append(second, spec)
		} else {
			first = append(first, spec)
		}
	}
	if len(first)+len(second) == 0 {
		return
	}
	byPath := func(a, b string) int {
		return strings.Compare(a[strings.IndexByte(a, '"'):], b[strings.IndexByte(b, '"'):])
	}
	slices.SortFunc(first, byPath)
	slices.SortFunc(second, byPath)
	if len(first) > 0 && len(second) > 0 {
		first = append(first, "")
	}
	out.WriteString("import (\n" + strings.Join(append(first, second...), "\n") + "\n)\n\n")
}

func qualifiers(text []byte) map[string]bool {
	// What doesn't parse is reported when the file is formatted.
	file, _ := parser.ParseFile(token.NewFileSet(), "", "package p\n"+string(text), parser.SkipObjectResolution)
	out := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				out[x.Name] = true
			}
		}
		return true
	})
	return out
}

// Template parses the templates of clients of that name, which may call functions.
func Template(name string, functions ...template.FuncMap) *template.Template {
	out := template.New("")
	for _, f := range functions {
		out.Funcs(f)
	}
	return template.Must(out.ParseFS(templates.FS, "client/"+name))
}
