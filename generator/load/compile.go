package load

import (
	"context"
	"errors"
	"go/ast"
	"go/build"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"

	"golang.org/x/tools/go/packages"
)

// File is a file that is about to be written.
type File struct {
	// Package is the import path of the package that the file belongs to, Dir its directory.
	Package, Dir string
	// PackageName is the Go name of the package.
	PackageName string
	// Name is the base name.
	Name    string
	Content []byte
}

// Origin is the author of a file.
type Origin uint8

// The origins.
const (
	ByHand   Origin = iota // the user
	ByOther                // another generator
	ByApigen               // a file that is about to be written
	Existing               // a generated file of ours that stays as it is
)

// Diagnostic is a compiler's complaint about the finished code.
type Diagnostic struct {
	Pos     token.Position
	Message string
	Origin  Origin
	// Output tells the packages that files are written for from those that were only looked at.
	Output bool
	// Body: it is in the body of a function. Name is the identifier at the position then, or empty.
	Body bool
	Name string
	// Soft: a variable is not used, which may follow from another error.
	Soft bool
	// Uncopied: the code at the position uses an API type whose generated methods aren't there.
	Uncopied bool
}

// Compile type-checks the packages of a load as they will be once files are written, function bodies included. The
// unwritten files are those that other runs write, for packages that this one only reads. Existing generated files
// count, too, unless a new file replaces them or removed reports that this run removes them. Compile changes nothing in
// what Load returned.
func (u *Universe) Compile(ctx context.Context, files, unwritten []File, removed func(path string) bool) ([]Diagnostic,
	error) {
	c := &compilation{
		Universe: u.withoutRoots(), old: u, removed: removed,
		origin: map[string]Origin{}, outputs: map[string]bool{},
	}
	for _, f := range files {
		c.add(f, true)
	}
	for _, f := range unwritten {
		c.add(f, false)
	}
	c.addRoots()
	if err := c.listMissing(ctx); err != nil {
		return nil, err
	}
	c.compile()
	return c.diagnostics, nil
}

// compilation is the state of one Compile.
type compilation struct {
	*Universe
	old         *Universe
	removed     func(string) bool
	origin      map[string]Origin // by path of file
	outputs     map[string]bool   // by path of package
	diagnostics []Diagnostic
}

// withoutRoots returns a universe that shares all packages but the roots and those that depend on them.
func (u *Universe) withoutRoots() *Universe {
	out := *u
	out.sources = map[string]*Source{}
	depends := map[string]bool{}
	var visit func(s *Source) bool
	visit = func(s *Source) bool {
		path := s.meta.PkgPath
		if s.root {
			return true
		}
		if known, ok := depends[path]; ok {
			return known
		}
		depends[path] = false
		for _, i := range s.meta.Imports {
			if is := u.sources[i.PkgPath]; is != nil && visit(is) {
				depends[path] = true
			}
		}
		return depends[path]
	}
	for path, s := range u.sources {
		switch {
		case s.root:
		case visit(s):
			out.sources[path] = &Source{meta: s.meta, files: s.files}
		default:
			out.sources[path] = s
		}
	}
	return &out
}

// add parses a file that is about to be written.
func (c *compilation) add(f File, output bool) {
	name := filepath.Join(f.Dir, f.Name)
	c.origin[name] = ByApigen
	c.outputs[f.Package] = true
	s := c.sources[f.Package]
	if s == nil || !s.root {
		s = c.fresh(f, output)
		c.sources[f.Package] = s
	}
	if !strings.HasSuffix(f.Name, ".go") {
		return
	}
	if !strings.HasSuffix(f.Name, "_test.go") {
		c.otherPackage(s, f.PackageName)
	}
	c.parseImports(s, name, f.Content)
}

// parseImports reads no more of a file than what it imports: the rest is read when its package is checked.
func (c *compilation) parseImports(s *Source, name string, data []byte) {
	f, err := parser.ParseFile(c.fset, name, data, parser.ImportsOnly|parser.SkipObjectResolution)
	if err != nil {
		c.parseInto(s, name, data) // which tells what is wrong
		return
	}
	if s.importsOnly == nil {
		s.importsOnly = map[*ast.File][]byte{}
	}
	s.files = append(s.files, f)
	s.importsOnly[f] = data
}

// fresh returns a package's source with what the user wrote in it.
func (c *compilation) fresh(f File, output bool) *Source {
	s := &Source{root: true, output: output, generated: map[*ast.File]bool{}}
	if old := c.old.sources[f.Package]; old != nil && old.root {
		s.meta, s.shallow, s.blanked = old.meta, old.shallow, old.blanked
		if !old.shallow {
			s.adopt(old)
		}
		return s
	}
	s.meta = &packages.Package{PkgPath: f.Package, Name: f.PackageName, Dir: f.Dir, Module: c.moduleOf(f.Dir)}
	c.metas[f.Package] = s.meta
	entries, _ := os.ReadDir(f.Dir)
	for _, e := range entries {
		name := filepath.Join(f.Dir, e.Name())
		if strings.HasSuffix(e.Name(), "_test.go") || !strings.HasSuffix(e.Name(), ".go") ||
			c.origin[name] == ByApigen {
			continue
		}
		if match, err := build.Default.MatchFile(f.Dir, e.Name()); err != nil || !match {
			continue
		}
		if data, err := os.ReadFile(name); err == nil {
			if c.options.Owns(e.Name()) && replaceable(data) {
				s.blanked = append(s.blanked, name)
				continue
			}
			c.parseInto(s, name, data)
		}
	}
	return s
}

// otherPackage reports hand-written files that are of another package than what is written beside them, and leaves them
// out.
func (c *compilation) otherPackage(s *Source, name string) {
	s.files = slices.DeleteFunc(s.files, func(f *ast.File) bool {
		pos := c.fset.Position(f.Name.Pos())
		if f.Name.Name == name || name == "" || c.origin[pos.Filename] != ByHand {
			return false
		}
		c.diagnostics = append(c.diagnostics, Diagnostic{Pos: pos, Output: s.output,
			Message: "this file is of package " + f.Name.Name + ", and apigen writes files of package " +
				"" + name + " beside it: move it to another folder"})
		return true
	})
}

func (s *Source) adopt(old *Source) {
	s.files = slices.Clone(old.files)
	s.generated = maps.Clone(old.generated)
}

// moduleOf returns the module of the root whose folder is nearest above.
func (c *compilation) moduleOf(dir string) *packages.Module {
	var best *packages.Module
	for _, s := range c.old.sources {
		m := s.meta.Module
		if s.root && m != nil && strings.HasPrefix(dir+"/", m.Dir+"/") && (best == nil || len(m.Dir) > len(best.Dir)) {
			best = m
		}
	}
	return best
}

func (c *compilation) parseInto(s *Source, name string, data []byte) {
	f, err := parser.ParseFile(c.fset, name, data, parser.SkipObjectResolution)
	var list scanner.ErrorList
	if errors.As(err, &list) {
		for _, e := range list {
			c.diagnostics = append(c.diagnostics, Diagnostic{Pos: e.Pos, Message: e.Msg, Origin: c.origin[name],
				Output: s.output})
		}
	}
	if f != nil && f.Name != nil {
		s.files = append(s.files, f)
		s.generated[f] = c.origin[name] == ByHand && generatedHeader(data)
	}
}

// addRoots adds the roots that no file is written for, and the generated files that stay.
func (c *compilation) addRoots() {
	for path, old := range c.old.sources {
		if old.root && c.sources[path] == nil {
			s := &Source{meta: old.meta, root: true, shallow: old.shallow, output: old.output, blanked: old.blanked}
			s.adopt(old)
			c.sources[path] = s
		}
	}
	for _, s := range c.sources {
		for _, name := range s.blanked {
			if c.origin[name] == ByApigen || s.output && c.removed(name) {
				continue
			}
			c.origin[name] = Existing
			if data, err := os.ReadFile(name); err == nil {
				c.parseInto(s, name, data)
			}
		}
	}
}

// listMissing lists what generated code imports and the first listing didn't ask for.
func (c *compilation) listMissing(ctx context.Context) error {
	missing := map[string]bool{}
	for _, s := range c.sources {
		if !s.root {
			continue
		}
		if s.shallow && !c.outputs[s.meta.PkgPath] {
			continue
		}
		for _, imp := range s.Imports() {
			if c.metas[imp] == nil && c.sources[imp] == nil && imp != "unsafe" && imp != "C" {
				missing[imp] = true
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	patterns := slices.Sorted(maps.Keys(missing))
	pkgs, err := c.list(ctx, exportMode, patterns)
	if err != nil {
		return err
	}
	c.addMetas(pkgs)
	c.markSources()
	return nil
}

// compile checks all roots that matter, with their bodies.
func (c *compilation) compile() {
	paths := make([]string, 0, len(c.sources))
	for path, s := range c.sources {
		if s.root && (!s.shallow || c.outputs[path]) {
			paths = append(paths, path)
		}
	}
	sort.Strings(paths)
	c.bodies = true
	for _, path := range paths {
		s := c.sources[path]
		c.checkSource(s)
		for _, e := range joined(s.errs) {
			c.diagnostics = append(c.diagnostics, c.diagnose(s, e))
		}
	}
}

func (c *compilation) diagnose(s *Source, e types.Error) Diagnostic {
	pos := c.fset.Position(e.Pos)
	d := Diagnostic{Pos: pos, Message: e.Msg, Origin: c.origin[pos.Filename], Output: s.output}
	f, decl := s.enclosing(c.fset, e.Pos)
	if f != nil && s.generated[f] && d.Origin == ByHand {
		d.Origin = ByOther
	}
	if path, ok := dotImport(e.Msg); ok && d.Origin == ByApigen {
		if at := s.handImport(path); at.IsValid() {
			name, _, _ := strings.Cut(e.Msg, " ")
			d.Pos, d.Origin = c.fset.Position(at), ByHand
			d.Message = "this import without a name brings " + name + ", which generated code declares, too: give " +
				"it a name"
		}
	}
	if d.Origin == ByApigen {
		c.blame(s, &d)
	}
	if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
		d.Body = fn.Body.Pos() <= e.Pos && e.Pos <= fn.Body.End()
	}
	if d.Body && d.Origin == ByHand {
		expr, name := expressionAt(decl, e.Pos)
		d.Name, d.Soft, d.Uncopied = name, e.Soft, c.usesUncopied(s, expr)
	}
	return d
}

// dotImport returns the path of the import without a name that an error of the type checker is about.
func dotImport(message string) (path string, ok bool) {
	_, path, ok = strings.Cut(message, " already declared through dot-import of package ")
	_, path, _ = strings.Cut(path, `("`)
	path, _, _ = strings.Cut(path, `")`)
	return path, ok
}

// known are names that generated code uses where hand-written code declares them, and what they must be.
var known = map[string]string{
	"SchemeGroupVersion": "a variable of type schema.GroupVersion", "GroupName": "a constant string",
	"SchemeBuilder":      "a variable of type runtime.SchemeBuilder",
	"localSchemeBuilder": "a variable of type *runtime.SchemeBuilder",
	"Resource":           "a func(string) schema.GroupResource", "Kind": "a func(string) schema.GroupKind",
	"AddToScheme": "a func(*runtime.Scheme) error", "addKnownTypes": "a func(*runtime.Scheme) error",
	"addDefaultingFuncs": "a func(*runtime.Scheme) error", "RegisterDefaults": "a func(*runtime.Scheme) error",
	"RegisterConversions": "a func(*runtime.Scheme) error",
}

var word = regexp.MustCompile(`\w+`)

// blame reports an error of generated code at a hand-written declaration, where the error mentions one that generated
// code uses.
func (c *compilation) blame(s *Source, d *Diagnostic) {
	mentioned := map[string]bool{}
	for _, w := range word.FindAllString(d.Message, -1) {
		mentioned[w] = known[w] != ""
	}
	for _, f := range s.files {
		if c.origin[c.fset.Position(f.Package).Filename] != ByHand || s.generated[f] {
			continue
		}
		for id := range declaredIn(f) {
			if mentioned[id.Name] {
				d.Pos, d.Origin = c.fset.Position(id.Pos()), ByHand
				d.Message = "generated code uses " + id.Name + ", and doesn't compile with this one: make it " +
					"" + known[id.Name] + ", or give it another name"
				return
			}
		}
	}
}
