package load

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/marker"
	"apigen.dev/generator/internal/model"
)

// Comment is what comments say of one declaration.
type Comment struct {
	Doc     string
	Markers marker.Markers
	Pos     token.Position
	// Literal is what a method of a schema returns, as far as it is written out.
	Literal string

	// over is the name of what a type is declared over, in a file; nil where that has none.
	over ast.Expr
	file *ast.File
}

// Comments are the comments of one package: of the package itself, and of its declarations by name, a field's name
// following its type's after a dot. Those of packages that are read from source are also found by position, which
// distinguishes the fields of anonymous structs.
type Comments struct {
	Package Comment

	byName map[string]*Comment
	byPos  map[token.Pos]*Comment
	// errs are the faults of markers that keep output from being written, warnings the others.
	errs, warnings diag.Errors
}

func newComments() *Comments {
	return &Comments{byName: map[string]*Comment{}, byPos: map[token.Pos]*Comment{}}
}

var noComment = &Comment{}

// Of returns what comments say of the declaration at a position, or else of that name. It is never nil.
func (c *Comments) Of(pos token.Pos, name string) *Comment {
	if x := c.At(pos); x != nil {
		return x
	}
	if x := c.byName[name]; x != nil {
		return x
	}
	return noComment
}

// At returns what comments say of the declaration at a position; nil if nothing is known of it.
func (c *Comments) At(pos token.Pos) *Comment {
	if !pos.IsValid() {
		return nil
	}
	return c.byPos[pos]
}

func (c *Comments) group() (string, bool) {
	var p model.Package
	_ = c.Package.Markers.ToPackage(&p) // resolve reports the faults
	return p.Group, p.HasGroup
}

func (c *Comments) serves() bool { return len(c.Package.Markers.Asking(marker.Serve)) > 0 }

// Comments returns the comments of a package: of a root's files, or of those files of a dependency that are asked for:
// doc.go, and the one with the declaration at a position, where that is valid.
func (u *Universe) Comments(p *types.Package, at token.Pos) *Comments {
	if s := u.sources[p.Path()]; s != nil && s.root {
		return s.comments
	}
	c := u.comments[p.Path()]
	if c == nil {
		c = newComments()
		u.comments[p.Path()] = c
		u.readComments(p.Path(), "doc.go", c)
		if u.named(p.Path()) { // the other package clauses count like that of doc.go
			for _, name := range u.filesOf(p.Path()) {
				f, _ := u.parseFile(name, nil, parser.ParseComments|parser.PackageClauseOnly)
				if f != nil && filepath.Base(name) != "doc.go" {
					newCollector(u.fset, f, c).packageClause()
				}
			}
		}
	}
	if at.IsValid() {
		u.readComments(p.Path(), filepath.Base(u.fset.Position(at).Filename), c)
	}
	return c
}

func (u *Universe) filesOf(path string) []string {
	if meta := u.metas[path]; meta != nil {
		return meta.GoFiles
	}
	return nil
}

// readComments parses one file of a dependency for its comments, once.
func (u *Universe) readComments(path, base string, c *Comments) {
	for _, name := range u.filesOf(path) {
		if filepath.Base(name) != base || u.commented[name] {
			continue
		}
		u.commented[name] = true
		if f, _ := u.parseFile(name, nil, parser.ParseComments); f != nil {
			newCollector(u.fset, f, c).collect()
		}
	}
}
