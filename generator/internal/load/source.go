package load

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"golang.org/x/tools/go/packages"

	"apigen.dev/generator/internal/marker"
)

// Source is a package that is read from source.
type Source struct {
	meta  *packages.Package
	files []*ast.File
	// generated are those of files that other tools wrote.
	generated map[*ast.File]bool
	// importsOnly is the text of files of which only the imports are parsed so far.
	importsOnly map[*ast.File][]byte
	// blanked are the paths of files that apigen generated, which it doesn't read.
	blanked []string
	// comments are those of the files, reads what the markers in them mean to the loader.
	comments *Comments
	reads    reads
	// Shallow: there are no markers but those that gather what lies below, so that types don't matter.
	Shallow bool
	// Output: files may be written for the package.
	Output bool
	// Types is the type-checked package, complete or not; nil if it isn't checked.
	Types *types.Package
	// root: read for its own sake, not for lack of export data.
	root bool
	// inGroup is the group that the files name above their package clauses; grouped tells the core group from none.
	inGroup string
	grouped bool

	// broken: a file doesn't parse. wrong: a declaration doesn't compile.
	broken, wrong bool

	errs []types.Error
	busy bool
}

// read reads and parses a root. Syntax errors are diagnostics.
func (u *Universe) read(p *packages.Package) *Source {
	s := &Source{meta: p, generated: map[*ast.File]bool{}, comments: newComments()}
	for _, name := range p.GoFiles {
		data, err := os.ReadFile(name)
		if err != nil {
			u.errs.Add(token.Position{Filename: name}, "can't be read: %v", err)
			s.broken = true
			continue
		}
		if u.replaceable(name, data) {
			s.blanked = append(s.blanked, name)
			continue
		}
		u.parse(s, name, data)
	}
	u.collector(s, nil).disagreements(s.comments.Package.Markers)
	s.inGroup, s.grouped = s.comments.group()
	s.Shallow = s.reads.collects && !s.reads.types
	slices.Sort(s.reads.named)
	return s
}

func (s *Source) relevant() bool { return s.reads.collects || s.reads.types }

type reads struct {
	// collects: there is a marker that collects what lies below, as +apigen:groups. types: there are others, which
	// packages of API types have.
	collects, types bool
	needs           marker.Need
	// named are packages that markers name, to be read for their types and markers; refs are those of other names, and
	// ofClients those that matter to clients alone.
	named, refs, ofClients []string
}

// add adds what a marker means, and the one that it wraps.
func (r *reads) add(m marker.Marker) {
	r.types = r.types || m.OfAPI()
	if d := m.Definition; d != nil {
		r.collects = r.collects || d.Read.Collects
		r.needs |= d.Read.Needs
		if d.Read.Packages != nil {
			to := &r.refs
			switch {
			case d.Read.Named:
				to = &r.named
			case d.Read.OfClients:
				to = &r.ofClients
			}
			*to = append(*to, d.Read.Packages(m)...)
		}
	}
	if m.Wrapped != nil {
		r.add(*m.Wrapped)
	}
}

var (
	generatedPattern = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.\r?$`)
	clausePattern    = regexp.MustCompile(`(?m)^package\s`)
)

// generatedHeader reports whether a file says before its package clause that it is generated.
func generatedHeader(data []byte) bool {
	loc := generatedPattern.FindIndex(data)
	if loc == nil {
		return false
	}
	clause := clausePattern.FindIndex(data)
	return clause == nil || loc[0] < clause[0]
}

// replaceable reports whether apigen may replace a file: it has one of the emitters' names, and holds nothing of the
// user's, since it is generated, or empty, as a disk that lost power leaves files.
func (u *Universe) replaceable(name string, data []byte) bool {
	return u.options.Owns(filepath.Base(name)) && (generatedHeader(data) || len(bytes.TrimSpace(data)) == 0)
}

func (u *Universe) parse(s *Source, name string, data []byte) {
	generated := generatedHeader(data)
	f, list := u.parseFile(name, data, parser.ParseComments)
	if len(list) > 0 && generated {
		u.warnings.Add(list[0].Pos, "in a file that another tool generated: %s", list[0].Msg)
		list = nil
	}
	for _, e := range list {
		u.errs.Add(e.Pos, "%s", e.Msg)
		s.broken = true
	}
	if f == nil {
		return
	}
	s.files = append(s.files, f)
	s.generated[f] = generated
	c := u.collector(s, f)
	c.generated, c.lenient = generated, c.lenient || generated
	c.collect()
	if generated {
		dropBodies(f)
	}
}

func (u *Universe) collector(s *Source, f *ast.File) *collector {
	c := newCollector(u.fset, f, s.comments)
	c.reads, c.reporting, c.own = &s.reads, true, s.Own()
	c.lenient = u.options.Lenient || !c.own
	return c
}

// parseFile parses a file, or the text of one if it is not nil, with its syntax errors. The file is nil where it
// lacks a package clause.
func (u *Universe) parseFile(name string, text []byte, mode parser.Mode) (*ast.File, scanner.ErrorList) {
	var source any
	if text != nil {
		source = text
	}
	f, err := parser.ParseFile(u.fset, name, source, mode|parser.SkipObjectResolution)
	var list scanner.ErrorList
	errors.As(err, &list)
	if f != nil && f.Name == nil {
		f = nil
	}
	return f, list
}

// Imports returns the import paths of the files, sorted.
func (s *Source) Imports() []string {
	seen := map[string]bool{}
	for _, f := range s.files {
		for path := range importsOf(f) {
			seen[path] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

var positionPattern = regexp.MustCompile(`^(.*?)(?::(\d+))?(?::(\d+))?$`)

// parsePosition parses the file:line:col of the go command.
func parsePosition(s string) token.Position {
	m := positionPattern.FindStringSubmatch(s)
	if m == nil || s == "-" {
		return token.Position{}
	}
	number := func(text string) int { n, _ := strconv.Atoi(text); return n }
	return token.Position{Filename: m[1], Line: number(m[2]), Column: number(m[3])}
}

// Files of other generators are as large as all others together, and nearly all of their text is bodies of functions
// (methods for protobuf). Only the check of finished code needs bodies. The loader drops them as soon as it has parsed
// a file, and that check parses the file again, one package at a time. It does the same with the files that apigen is
// about to write.

// dropBodies removes the bodies of a file's functions, except those that the type checker requires.
func dropBodies(f *ast.File) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if ok && fn.Type.TypeParams == nil && (fn.Recv != nil || fn.Name.Name != "init" && fn.Name.Name != "main") {
			fn.Body = nil
		}
	}
}

// withBodies parses the files without bodies once more; drop drops the bodies again. A file of another tool that no
// longer parses stays as it is.
func (u *Universe) withBodies(s *Source) (drop func()) {
	var whole []*ast.File
	for i, f := range s.files {
		content, importsOnly := s.importsOnly[f]
		if !importsOnly && !s.generated[f] {
			continue
		}
		again, errs := u.parseFile(u.fset.PositionFor(f.Package, false).Filename, content, 0)
		if importsOnly {
			for _, e := range errs {
				pos := u.fset.File(again.FileStart).Pos(e.Pos.Offset)
				s.errs = append(s.errs, types.Error{Fset: u.fset, Pos: pos, Msg: e.Msg})
			}
		} else if again == nil || len(errs) > 0 {
			continue
		}
		s.files[i], s.generated[again] = again, s.generated[f]
		delete(s.generated, f)
		delete(s.importsOnly, f)
		whole = append(whole, again)
	}
	return func() {
		for _, f := range whole {
			dropBodies(f)
		}
	}
}
