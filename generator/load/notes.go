package load

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/marker"
	"apigen.dev/generator/model"
)

// note is what comments say of one declaration.
type note struct {
	doc     string
	markers marker.Markers
	pos     token.Position
	// literal is what a method of a schema returns, as far as it is written out.
	literal string
	// over is what a type is declared over where that has a name.
	over *name
}

// notes are the comments of one package: of the package itself, and of its declarations by name, a field's name
// following its type's after a dot. Those of packages read from source are known by position too, which tells the
// fields of anonymous structs apart.
type notes struct {
	pkg    note
	byName map[string]*note
	byPos  map[token.Pos]*note
}

var noNote = &note{}

func (n *notes) of(pos token.Pos, name string) *note {
	if x := n.byPos[pos]; x != nil && pos.IsValid() {
		return x
	}
	if x := n.byName[name]; x != nil {
		return x
	}
	return noNote
}

// notesOf returns the comments of a package: of a root's files, or of those files of a dependency that are asked for.
func (b *builder) notesOf(p *types.Package, at token.Pos) *notes {
	s := b.l.sources[p.Path()]
	root := s != nil && s.root
	n := b.notes[p.Path()]
	if n == nil {
		n = newNotes()
		b.notes[p.Path()] = n
		if root {
			for _, f := range s.files {
				c := &collector{fset: b.l.fset, notes: n, report: b.reporter(s, s.generated[f])}
				if own(s.meta) && !s.generated[f] {
					c.warn = func(pos token.Position, message string) { b.warnings.Add(pos, "%s", message) }
				}
				c.file(f)
			}
			disagreements(n.pkg.markers, b.reporter(s, false))
		} else {
			b.readNotes(p.Path(), "doc.go", n)
			if b.l.named(p.Path()) {
				b.readClauses(p.Path(), n)
			}
		}
	}
	if !root && at.IsValid() {
		b.readNotes(p.Path(), filepath.Base(b.l.fset.Position(at).Filename), n)
	}
	return n
}

// readNotes parses one file of a dependency for its comments, once.
func (b *builder) readNotes(path, base string, n *notes) {
	key := path + "\x00" + base
	meta := b.l.metas[path]
	if b.parsed[key] || meta == nil {
		return
	}
	b.parsed[key] = true
	for _, name := range meta.GoFiles {
		if filepath.Base(name) != base {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return
		}
		f, _ := parser.ParseFile(b.l.fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
		if f != nil && f.Name != nil {
			(&collector{fset: b.l.fset, notes: n}).file(f)
		}
	}
}

// readClauses adds what the other files of a dependency say above their package clauses: of one that a marker names, they
// count like doc.go.
func (b *builder) readClauses(path string, n *notes) {
	meta := b.l.metas[path]
	if meta == nil {
		return
	}
	for _, name := range meta.GoFiles {
		if filepath.Base(name) == "doc.go" {
			continue
		}
		f, _ := parser.ParseFile(b.l.fset, name, nil, parser.ParseComments|parser.PackageClauseOnly)
		if f != nil && f.Name != nil {
			(&collector{fset: b.l.fset, notes: n}).packageClause(f, map[*ast.CommentGroup]bool{})
		}
	}
}

// reporter reports faults of markers as errors where the user can mend them and wants to, else as warnings.
func (b *builder) reporter(s *source, generated bool) reporter {
	return func(pos token.Position, message string) {
		to := &b.errs
		if generated || b.l.Lenient || !own(s.meta) {
			to = &b.warnings
		}
		*to = append(*to, diag.Error{Pos: pos, Message: message, Lenient: to == &b.errs})
	}
}

// fault reports what is wrong with a kind of a package: an error, where the user is not lenient, and can mend it.
func (b *builder) fault(p *model.Package, pos model.Position, format string, args ...any) {
	report := b.reportOf(p)
	if report == nil && b.l.Lenient {
		report = func(pos token.Position, message string) { b.warnings.Add(pos, "%s", message) }
	}
	if report == nil {
		b.errs = append(b.errs, diag.Error{Pos: pos, Message: fmt.Sprintf(format, args...), Lenient: true})
		return
	}
	report(pos, fmt.Sprintf(format, args...))
}
