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
	"reflect"
	"sort"
	"strings"
	"sync"
	"testing"

	"apigen.dev/generator/model"
)

// exports finds compiled packages, as go list builds them.
var exports = sync.OnceValues(func() (map[string]string, error) {
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}",
		"k8s.io/apimachinery/pkg/runtime", "k8s.io/apimachinery/pkg/apis/meta/v1", "net/url", "fmt").Output()
	if err != nil {
		return nil, err
	}
	m := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		m[path] = file
	}
	return m, nil
})

// loader makes a small model of packages in testdata.
type loader struct {
	t        *testing.T
	root     string // import path of the directory testdata
	dir      string
	fset     *token.FileSet
	deps     types.Importer
	checked  map[string]*types.Package
	packages map[string]*model.Package
	named    map[*types.TypeName]*model.Type
	other    map[types.Type]*model.Type
	// generated: generated files are read, too, and errors of the types are kept.
	generated bool
	errs      []error
}

func newLoader(t *testing.T, root, dir string) *loader {
	l := &loader{t: t, root: root, dir: dir, fset: token.NewFileSet(), checked: map[string]*types.Package{},
		packages: map[string]*model.Package{}, named: map[*types.TypeName]*model.Type{}, other: map[types.Type]*model.Type{}}
	l.deps = importer.ForCompiler(l.fset, "gc", func(path string) (io.ReadCloser, error) {
		files, err := exports()
		if err != nil {
			return nil, err
		}
		return os.Open(files[path])
	})
	return l
}

// Import implements types.Importer.
func (l *loader) Import(path string) (*types.Package, error) {
	if !strings.HasPrefix(path, l.root) {
		return l.deps.Import(path)
	}
	return l.load(path), nil
}

func (l *loader) load(path string) *types.Package {
	if p := l.checked[path]; p != nil {
		return p
	}
	l.t.Helper()
	dir := filepath.Join(l.dir, strings.TrimPrefix(path, l.root))
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) == 0 {
		l.t.Fatalf("%s: no files: %v", dir, err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasPrefix(filepath.Base(name), "zz_") && !l.generated {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			l.t.Fatal(err)
		}
		file, err := parser.ParseFile(l.fset, strings.TrimPrefix(name, l.dir+"/"), src, parser.ParseComments)
		if err != nil {
			l.t.Fatal(err)
		}
		files = append(files, file)
	}
	conf := types.Config{Importer: l, Error: func(err error) {
		if l.generated { // otherwise generated functions are missed
			l.errs = append(l.errs, err)
		}
	}}
	p, _ := conf.Check(path, l.fset, files, nil)
	l.checked[path] = p
	l.describe(p, dir, files)
	return p
}

func (l *loader) describe(p *types.Package, dir string, files []*ast.File) {
	pkg := l.pkg(p)
	pkg.Dir, pkg.Output, pkg.Module = dir, true, &model.Module{Own: true}
	pkg.Declared = map[string]model.Position{}
	pkg.Pos = l.fset.Position(files[0].Package)
	scope := p.Scope()
	for _, name := range scope.Names() {
		obj := scope.Lookup(name)
		pkg.Declared[name] = l.fset.Position(obj.Pos())
		switch obj := obj.(type) {
		case *types.TypeName:
			if !obj.IsAlias() {
				pkg.Types = append(pkg.Types, l.typ(obj.Type()))
			}
		case *types.Func:
			pkg.Funcs = append(pkg.Funcs, l.function(pkg, obj))
		case *types.Var:
			if name == "localSchemeBuilder" || name == "SchemeBuilder" && pkg.LocalSchemeBuilder == "" {
				pkg.LocalSchemeBuilder = name
			}
		}
	}
	sort.SliceStable(pkg.Types, func(i, j int) bool { return pkg.Types[i].Pos.Offset < pkg.Types[j].Pos.Offset })
	for _, f := range files {
		l.markers(pkg, f)
	}
}

func (l *loader) function(pkg *model.Package, obj *types.Func) *model.Func {
	sig := obj.Signature()
	fn := &model.Func{Name: obj.Name(), Package: pkg, Pos: l.fset.Position(obj.Pos()), Variadic: sig.Variadic()}
	for v := range sig.Params().Variables() {
		fn.Params = append(fn.Params, l.typ(v.Type()))
	}
	for v := range sig.Results().Variables() {
		fn.Results = append(fn.Results, l.typ(v.Type()))
	}
	return fn
}

// markers reads those that conversions know.
func (l *loader) markers(pkg *model.Package, file *ast.File) {
	for _, group := range file.Comments {
		end := l.fset.Position(group.End()).Line
		for line := range strings.Lines(group.Text()) {
			marker, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			if group.End() < file.Package {
				switch marker {
				case "+k8s:conversion-gen":
					if value == "false" {
						pkg.ConversionOff = true
					} else {
						l.load(value)
						pkg.ConversionPeers = append(pkg.ConversionPeers, value)
					}
				case "+groupName":
					pkg.Group, pkg.HasGroup = value, true
				}
				continue
			}
			l.mark(pkg, marker, value, end)
		}
	}
}

func (l *loader) mark(pkg *model.Package, marker, value string, end int) {
	for _, t := range pkg.Types {
		near := t.Pos.Line > end && t.Pos.Line <= end+3
		switch {
		case near && marker == "+k8s:conversion-gen:explicit-from":
			path, name, _ := strings.Cut(value, ".")
			t.ConversionFrom = append(t.ConversionFrom, model.Ref{Path: path, Name: name, Pos: t.Pos})
		case near && marker == "+k8s:conversion-gen":
			t.ConversionOff = true
		case near && marker == "+kubebuilder:storageversion":
			t.Kind.StorageVersion = true
		}
		for _, f := range t.Fields {
			if f.Pos.Line == end+1 && f.Pos.Filename == t.Pos.Filename {
				f.ConversionOff = f.ConversionOff || marker == "+k8s:conversion-gen" || marker == "+apigen:conversion:drop"
			}
		}
	}
	for _, f := range pkg.Funcs {
		if f.Pos.Line == end+1 && marker == "+k8s:conversion-fn" {
			f.ConversionFn = value
		}
	}
}

func (l *loader) pkg(p *types.Package) *model.Package {
	m := l.packages[p.Path()]
	if m == nil {
		m = &model.Package{Path: p.Path(), Name: p.Name(), Module: &model.Module{}}
		if strings.HasPrefix(p.Name(), "v1") {
			m.Version = p.Name()
		}
		l.packages[p.Path()] = m
	}
	return m
}

func (l *loader) typ(t types.Type) *model.Type {
	t = types.Unalias(t)
	if n, ok := t.(*types.Named); ok {
		m := l.named[n.Obj()]
		if m == nil {
			m = &model.Type{Name: n.Obj().Name(), Pos: l.fset.Position(n.Obj().Pos())}
			l.named[n.Obj()] = m
			if n.Obj().Pkg() != nil {
				m.Package = l.pkg(n.Obj().Pkg())
			}
			l.fill(m, n.Underlying())
			l.kind(m, n)
		}
		return m
	}
	m := l.other[t]
	if m == nil {
		m = &model.Type{}
		l.other[t] = m
		l.fill(m, t)
	}
	return m
}

func (l *loader) kind(m *model.Type, n *types.Named) {
	meta := fieldNamed(m, "ObjectMeta")
	if meta == nil || fieldNamed(m, "TypeMeta") == nil {
		return
	}
	m.Kind = &model.Kind{}
	if list := n.Obj().Pkg().Scope().Lookup(m.Name + "List"); list != nil {
		m.Kind.ListType = l.typ(list.Type())
	}
}

func (l *loader) fill(m *model.Type, t types.Type) {
	switch t := t.(type) {
	case *types.Basic:
		m.Form, m.Basic = model.Basic, t.Name()
	case *types.Pointer:
		m.Form, m.Elem = model.Pointer, l.typ(t.Elem())
	case *types.Slice:
		m.Form, m.Elem = model.Slice, l.typ(t.Elem())
	case *types.Array:
		m.Form, m.Elem, m.Len = model.Array, l.typ(t.Elem()), t.Len()
	case *types.Map:
		m.Form, m.Key, m.Elem = model.Map, l.typ(t.Key()), l.typ(t.Elem())
	case *types.Chan:
		m.Form, m.Elem = model.Chan, l.typ(t.Elem())
	case *types.Signature:
		m.Form = model.Func_
	case *types.Interface:
		m.Form = model.Interface
		for f := range t.Methods() {
			m.InterfaceMethods = append(m.InterfaceMethods, f.Name())
		}
		sort.Strings(m.InterfaceMethods)
	case *types.Struct:
		m.Form = model.Struct
		for i := range t.NumFields() {
			v := t.Field(i)
			f := &model.Field{Name: v.Name(), Type: l.typ(v.Type()), Pos: l.fset.Position(v.Pos()), Embedded: v.Embedded(),
				Exported: v.Exported(), Tag: t.Tag(i)}
			tag := reflect.StructTag(t.Tag(i)).Get("json")
			f.JSON, _, _ = strings.Cut(tag, ",")
			f.Inline, f.Ignored = strings.Contains(tag, "inline"), tag == "-" || !v.Exported()
			m.Fields = append(m.Fields, f)
		}
	default:
		l.t.Fatalf("unexpected type %s", t)
	}
}

// program describes the packages with those paths below the root.
func (l *loader) program(paths ...string) *model.Program {
	p := &model.Program{}
	groups := map[string]*model.Group{}
	for _, path := range paths {
		l.load(l.root + "/" + path)
		pkg := l.packages[l.root+"/"+path]
		p.Packages = append(p.Packages, pkg)
		if !pkg.HasGroup {
			continue
		}
		g := groups[pkg.Group]
		if g == nil {
			g = &model.Group{Name: pkg.Group}
			groups[pkg.Group] = g
			p.Groups = append(p.Groups, g)
		}
		if pkg.Version == "" {
			g.Internal = pkg
			continue
		}
		g.Versions = append(g.Versions, &model.Version{Name: pkg.Version, Package: pkg})
	}
	for _, g := range p.Groups {
		resources(g)
	}
	return p
}

func resources(g *model.Group) {
	byKind := map[string]*model.Resource{}
	for _, v := range g.Versions {
		for _, t := range v.Package.Types {
			if t.Kind == nil {
				continue
			}
			r := byKind[t.Name]
			if r == nil {
				r = &model.Resource{Kind: t.Name}
				byKind[t.Name] = r
				g.Resources = append(g.Resources, r)
			}
			r.Versions = append(r.Versions, model.ResourceVersion{Version: v, Type: t})
			if t.Kind.StorageVersion || r.Hub == nil {
				r.Hub, r.Storage = t, v
			}
		}
	}
}
