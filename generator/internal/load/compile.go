package load

import (
	"context"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// externalTest reports whether the file belongs to the package of tests beside its package, which has no other files.
func (f File) externalTest() bool {
	return strings.HasSuffix(f.Name, "_test.go") && strings.HasSuffix(f.PackageName, "_test")
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

// Compile type-checks the packages of a load as they will be once files are written, function bodies included. Others
// are files that other runs are to write, for packages that this one only looks at. Existing generated files count,
// too, unless a new file replaces them or removed reports that this run removes them. Compile changes nothing in what
// Load returned.
func (u *Universe) Compile(ctx context.Context, files, others []File, removed func(path string) bool) ([]Diagnostic,
	error) {
	c := &compilation{
		Universe: u.withoutRoots(), old: u, removed: removed,
		origin: map[string]Origin{}, outputs: map[string]bool{},
	}
	for _, f := range files {
		c.add(f, true)
	}
	for _, f := range others {
		c.add(f, false)
	}
	c.addRoots()
	if err := c.listMissing(ctx); err != nil {
		return nil, err
	}
	c.compile()
	return c.diagnostics, nil
}

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
	onRoots := u.importing(func(path string) bool { return u.Root(path) != nil })
	for path, s := range u.sources {
		switch {
		case s.root:
		case onRoots.From(path):
			out.sources[path] = &Source{meta: s.meta, files: s.files}
		default:
			out.sources[path] = s
		}
	}
	return &out
}

func (c *compilation) add(f File, output bool) {
	name := filepath.Join(f.Dir, f.Name)
	c.origin[name] = ByApigen
	if f.externalTest() {
		f.Package += "_test"
	}
	c.outputs[f.Package] = true
	s := c.sources[f.Package]
	if s == nil || !s.root {
		s = c.newSource(f, output)
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
	f, errs := c.parseFile(name, data, parser.ImportsOnly)
	if len(errs) > 0 {
		c.parseWhole(s, name, data) // which reports the errors
		return
	}
	if s.importsOnly == nil {
		s.importsOnly = map[*ast.File][]byte{}
	}
	s.files = append(s.files, f)
	s.importsOnly[f] = data
}

// newSource returns the source of a package that files are written for, with what the user wrote in it.
func (c *compilation) newSource(f File, output bool) *Source {
	if old := c.old.sources[f.Package]; old != nil && old.root {
		s := old.clone()
		if s.Output = output; s.Shallow {
			s.files = nil
		}
		return s
	}
	s := &Source{root: true, Output: output, generated: map[*ast.File]bool{}}
	s.meta = &packages.Package{PkgPath: f.Package, Name: f.PackageName, Dir: f.Dir, Module: c.moduleOf(f.Dir)}
	c.metas[f.Package] = s.meta
	if f.externalTest() {
		return s
	}
	for _, name := range goFiles(f.Dir) {
		if c.origin[name] == ByApigen {
			continue
		}
		if match, err := build.Default.MatchFile(f.Dir, filepath.Base(name)); err != nil || !match {
			continue
		}
		if data, err := os.ReadFile(name); err == nil {
			if c.replaceable(name, data) {
				s.blanked = append(s.blanked, name)
				continue
			}
			c.parseWhole(s, name, data)
		}
	}
	return s
}

// otherPackage reports and leaves out hand-written files of another package than the files written beside them.
func (c *compilation) otherPackage(s *Source, name string) {
	s.files = slices.DeleteFunc(s.files, func(f *ast.File) bool {
		pos := c.fset.Position(f.Name.Pos())
		if f.Name.Name == name || name == "" || c.origin[pos.Filename] != ByHand {
			return false
		}
		c.diagnostics = append(c.diagnostics, Diagnostic{Pos: pos, Output: s.Output,
			Message: "this file is of package " + f.Name.Name + ", and apigen writes files of package " +
				"" + name + " beside it: move it to another folder"})
		return true
	})
}

// clone returns a root that isn't checked yet, with the files of another.
func (s *Source) clone() *Source {
	return &Source{meta: s.meta, root: true, Shallow: s.Shallow, Output: s.Output, blanked: s.blanked,
		files: slices.Clone(s.files), generated: maps.Clone(s.generated)}
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

func (c *compilation) parseWhole(s *Source, name string, data []byte) {
	f, errs := c.parseFile(name, data, 0)
	for _, e := range errs {
		c.diagnostics = append(c.diagnostics, Diagnostic{Pos: e.Pos, Message: e.Msg, Origin: c.origin[name],
			Output: s.Output})
	}
	if f != nil {
		s.files = append(s.files, f)
		s.generated[f] = c.origin[name] == ByHand && generatedHeader(data)
	}
}

// addRoots adds the roots that no file is written for, and the generated files that stay.
func (c *compilation) addRoots() {
	for path, old := range c.old.sources {
		if old.root && c.sources[path] == nil {
			c.sources[path] = old.clone()
		}
	}
	for _, s := range c.sources {
		for _, name := range s.blanked {
			if c.origin[name] == ByApigen || s.Output && c.removed(name) {
				continue
			}
			c.origin[name] = Existing
			if data, err := os.ReadFile(name); err == nil {
				c.parseWhole(s, name, data)
			}
		}
	}
}

// listMissing lists what generated code imports and the first listing didn't ask for.
func (c *compilation) listMissing(ctx context.Context) error {
	missing := map[string]bool{}
	for _, s := range c.sources {
		if !s.root || s.Shallow && !c.outputs[s.meta.PkgPath] {
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
	if err := c.listExports(ctx, slices.Sorted(maps.Keys(missing))); err != nil {
		return err
	}
	c.markSources()
	return nil
}

func (c *compilation) compile() {
	c.bodies = true
	for _, s := range c.Roots() {
		if s.Shallow && !c.outputs[s.meta.PkgPath] {
			continue
		}
		c.checkSource(s)
		for _, e := range joined(s.errs) {
			c.diagnostics = append(c.diagnostics, c.diagnose(s, e))
		}
	}
}

func (c *compilation) diagnose(s *Source, e types.Error) Diagnostic {
	pos := c.fset.Position(e.Pos)
	d := Diagnostic{Pos: pos, Message: e.Msg, Origin: c.origin[pos.Filename], Output: s.Output}
	f, decl := s.enclosing(c.fset, e.Pos)
	if f != nil && s.generated[f] && d.Origin == ByHand {
		d.Origin = ByOther
	}
	if m := dotImportPattern.FindStringSubmatch(e.Msg); m != nil && d.Origin == ByApigen {
		if at := s.handImport(m[2]); at.IsValid() {
			d.Pos, d.Origin = c.fset.Position(at), ByHand
			d.Message = "this import without a name brings " + m[1] + ", which generated code declares, too: give " +
				"it a name"
		}
	}
	if d.Origin == ByApigen {
		c.atHandWritten(s, &d)
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

// dotImportPattern matches the error of the type checker about a name that an import without a name brings, too.
var dotImportPattern = regexp.MustCompile(`^(\S+) .*already declared through dot-import of package .*?\("(.*?)"\)`)

// usedNames are names that generated code uses where hand-written code declares them, and what they must be.
var usedNames = map[string]string{
	"SchemeGroupVersion": "a variable of type schema.GroupVersion", "GroupName": "a constant string",
	"SchemeBuilder":      "a variable of type runtime.SchemeBuilder",
	"localSchemeBuilder": "a variable of type *runtime.SchemeBuilder",
	"Resource":           "a func(string) schema.GroupResource", "Kind": "a func(string) schema.GroupKind",
	"AddToScheme": "a func(*runtime.Scheme) error", "addKnownTypes": "a func(*runtime.Scheme) error",
	"addDefaultingFuncs": "a func(*runtime.Scheme) error", "RegisterDefaults": "a func(*runtime.Scheme) error",
	"RegisterConversions": "a func(*runtime.Scheme) error",
}

var word = regexp.MustCompile(`\w+`)

// atHandWritten moves an error of generated code to a hand-written declaration, where the error mentions one that
// generated code uses.
func (c *compilation) atHandWritten(s *Source, d *Diagnostic) {
	mentioned := map[string]bool{}
	for _, w := range word.FindAllString(d.Message, -1) {
		mentioned[w] = usedNames[w] != ""
	}
	for _, f := range s.files {
		if c.origin[c.fset.Position(f.Package).Filename] != ByHand || s.generated[f] {
			continue
		}
		for id := range declaredIn(f) {
			if mentioned[id.Name] {
				d.Pos, d.Origin = c.fset.Position(id.Pos()), ByHand
				d.Message = "generated code uses " + id.Name + ", and doesn't compile with this one: make it " +
					usedNames[id.Name] + ", or give it another name"
				return
			}
		}
	}
}
