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
	"strings"

	"golang.org/x/tools/go/packages"

	"apigen.dev/generator/marker"
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
	// shallow: there are no markers but those that gather what lies below, so that types don't matter.
	shallow bool
	// root: read for its own sake, not for lack of export data. output: files may be written for it.
	root, output bool
	// inGroup is the group that the files name above their package clauses; grouped tells the core group from none.
	inGroup string
	grouped bool

	// broken: a file doesn't parse. wrong: a declaration doesn't compile.
	broken, wrong bool

	types *types.Package
	errs  []types.Error
	busy  bool
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
		if u.options.Owns(filepath.Base(name)) && replaceable(data) {
			s.blanked = append(s.blanked, name)
			continue
		}
		u.parse(s, name, data)
	}
	s.comments.check()
	s.inGroup, s.grouped = s.comments.group()
	s.shallow = s.reads.collects && !s.reads.types
	slices.Sort(s.reads.named)
	return s
}

// relevant reports whether there is something to generate for a package.
func (s *Source) relevant() bool { return s.reads.collects || s.reads.types }

// reads is what markers mean to the loader.
type reads struct {
	// collects: there is a marker that collects what lies below, as +apigen:groups. types: there are others, which
	// packages of API types have.
	collects, types bool
	needs           map[marker.Need]bool
	// named are packages that markers name, to be read for their types and markers; refs are those of other names, and
	// ofClients those that matter to clients alone.
	named, refs, ofClients []string
}

// add adds what a marker means, and the one that it wraps.
func (r *reads) add(m marker.Marker) {
	r.types = r.types || m.OfAPI()
	if d := m.Definition; d != nil {
		r.collects = r.collects || d.Read.Collects
		if d.Read.Needs != marker.NeedsNothing {
			if r.needs == nil {
				r.needs = map[marker.Need]bool{}
			}
			r.needs[d.Read.Needs] = true
		}
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

// replaceable reports whether a file under one of our names holds nothing of the user's: it is generated, or empty, as
// a disk that lost power leaves files.
func replaceable(data []byte) bool { return generatedHeader(data) || len(bytes.TrimSpace(data)) == 0 }

// isGenerated reports whether apigen generated a file on the disk.
func (u *Universe) isGenerated(name string) bool {
	if !u.options.Owns(filepath.Base(name)) {
		return false
	}
	data, err := os.ReadFile(name)
	return err == nil && replaceable(data)
}

func (u *Universe) parse(s *Source, name string, data []byte) {
	f, err := parser.ParseFile(u.fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
	var list scanner.ErrorList
	if errors.As(err, &list) {
		if generatedHeader(data) {
			u.warnings.Add(list[0].Pos, "in a file that another tool generated: %s", list[0].Msg)
			list = nil
		}
		for _, e := range list {
			u.errs.Add(e.Pos, "%s", e.Msg)
			s.broken = true
		}
	}
	if f == nil || f.Name == nil {
		return
	}
	s.files = append(s.files, f)
	s.generated[f] = generatedHeader(data)
	c := newCollector(u.fset, f, s.comments)
	c.reads, c.reporting, c.generated = &s.reads, true, s.generated[f]
	c.collect()
	if s.generated[f] {
		dropBodies(f)
	}
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

// parsePosition parses the file:line:col of the go command.
func parsePosition(s string) token.Position {
	var p token.Position
	if s == "" || s == "-" {
		return p
	}
	parts := strings.Split(s, ":")
	numbers := []int{}
	for len(parts) > 1 && len(numbers) < 2 {
		n, err := strconv.Atoi(parts[len(parts)-1])
		if err != nil {
			break
		}
		numbers, parts = append(numbers, n), parts[:len(parts)-1]
	}
	p.Filename = strings.Join(parts, ":")
	switch len(numbers) {
	case 1:
		p.Line = numbers[0]
	case 2:
		p.Line, p.Column = numbers[1], numbers[0]
	}
	return p
}
