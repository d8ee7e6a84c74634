package load

import (
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/marker"
	"apigen.dev/generator/model"
)

// Comment is what comments say of one declaration.
type Comment struct {
	Doc     string
	Markers marker.Markers
	Pos     token.Position
	// Literal is what a method of a schema returns, as far as it is written out.
	Literal string

	// over is what a type is declared over where that has a name.
	over *name
}

// Comments are the comments of one package: of the package itself, and of its declarations by name, a field's name
// following its type's after a dot. Those of packages that are read from source are also found by position, which
// distinguishes the fields of anonymous structs.
type Comments struct {
	Package Comment

	byName map[string]*Comment
	byPos  map[token.Pos]*Comment
	// faults of markers keep output from being written, as far as the user can mend them; warnings don't.
	faults, warnings []fault
}

// fault is a fault of a marker, and whether it is in a file that another tool generated.
type fault struct {
	diag.Error
	generated bool
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

// At returns what comments say of the declaration at a position; nil where nothing is known of it.
func (c *Comments) At(pos token.Pos) *Comment {
	if !pos.IsValid() {
		return nil
	}
	return c.byPos[pos]
}

// check adds the faults of the package's markers, once all files are read.
func (c *Comments) check() {
	for _, e := range c.Package.Markers.Disagreements() {
		c.faults = append(c.faults, fault{Error: e})
	}
}

// group returns the API group that the markers of the package name, and whether they name one.
func (c *Comments) group() (string, bool) {
	var p model.Package
	c.Package.Markers.ToPackage(&p)
	return p.Group, p.HasGroup
}

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
		if u.named(p.Path()) {
			u.readClauses(p.Path(), c)
		}
	}
	if at.IsValid() {
		u.readComments(p.Path(), filepath.Base(u.fset.Position(at).Filename), c)
	}
	return c
}

// readComments parses one file of a dependency for its comments, once.
func (u *Universe) readComments(path, base string, c *Comments) {
	key := path + "\x00" + base
	meta := u.metas[path]
	if u.commented[key] || meta == nil {
		return
	}
	u.commented[key] = true
	for _, name := range meta.GoFiles {
		if filepath.Base(name) != base {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return
		}
		f, _ := parser.ParseFile(u.fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
		if f != nil && f.Name != nil {
			newCollector(u.fset, f, c).collect()
		}
	}
}

// readClauses adds what the other files of a dependency say above their package clauses: of one that a marker names,
// they count like doc.go.
func (u *Universe) readClauses(path string, c *Comments) {
	meta := u.metas[path]
	if meta == nil {
		return
	}
	for _, name := range meta.GoFiles {
		if filepath.Base(name) == "doc.go" {
			continue
		}
		f, _ := parser.ParseFile(u.fset, name, nil, parser.ParseComments|parser.PackageClauseOnly)
		if f != nil && f.Name != nil {
			newCollector(u.fset, f, c).packageClause()
		}
	}
}
