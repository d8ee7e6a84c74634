package load

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/marker"
)

// note is what comments say of one declaration.
type note struct {
	doc     string
	markers marker.Markers
	pos     token.Position
	// literal is what a method of a schema returns, as far as it is written out.
	literal string
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

// reporter takes the faults of markers.
type reporter func(pos token.Position, message string)

// collector reads the comments of files.
type collector struct {
	fset   *token.FileSet
	notes  *notes
	report reporter
	// warn takes what has no effect where it stands.
	warn reporter
}

func newNotes() *notes {
	return &notes{byName: map[string]*note{}, byPos: map[token.Pos]*note{}}
}

// file adds the comments of a file. quiet files, which other tools generated, have no faults.
func (c *collector) file(f *ast.File) {
	used := map[*ast.CommentGroup]bool{}
	c.packageClause(f, used)
	last := f.Name.End()
	defer c.alone(f, used)
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			c.gen(f, d, last, used)
		case *ast.FuncDecl:
			groups := groupsAbove(c.fset, f.Comments, d.Doc, last, d.Pos())
			name := d.Name.Name
			if d.Recv != nil {
				name = receiverName(d) + "." + name + "()"
				c.schemaMethod(d, name)
			}
			c.add(d.Name.Pos(), name, marker.Func, d.Doc, groups, used)
		}
		last = d.End()
	}
}

// packageClause reads the comments above the package clause; all groups count.
func (c *collector) packageClause(f *ast.File, used map[*ast.CommentGroup]bool) {
	n := &c.notes.pkg
	for _, g := range f.Comments {
		if g.Pos() > f.Package {
			break
		}
		used[g] = true
		n.markers = append(n.markers, c.parse(g, marker.Package)...)
	}
	if f.Doc != nil {
		if d := docText(f.Doc); d != "" && n.doc == "" {
			n.doc = d
		}
	}
	if !n.pos.IsValid() || len(n.markers) > 0 && n.pos.Filename != n.markers[0].Pos.Filename {
		n.pos = c.fset.Position(f.Package)
	}
}

func (c *collector) gen(f *ast.File, d *ast.GenDecl, last token.Pos, used map[*ast.CommentGroup]bool) {
	place := map[token.Token]marker.Place{token.TYPE: marker.Type, token.CONST: marker.Const}[d.Tok]
	if place == 0 {
		return
	}
	start, outer := last, d.Doc
	if d.Lparen.IsValid() {
		start = d.Lparen
		if d.Doc != nil {
			used[d.Doc] = true
		}
	}
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			doc := spec.Doc
			if doc == nil && !d.Lparen.IsValid() {
				doc = outer
			}
			begin := spec.Pos()
			if !d.Lparen.IsValid() {
				begin = d.Pos()
			}
			c.add(spec.Name.Pos(), spec.Name.Name, place, doc, groupsAbove(c.fset, f.Comments, doc, start, begin), used)
			c.fields(f, spec.Name.Name, spec.Type, used)
		case *ast.ValueSpec:
			doc := spec.Doc
			if doc == nil && !d.Lparen.IsValid() {
				doc = outer
			}
			groups := groupsAbove(c.fset, f.Comments, doc, start, spec.Pos())
			if !d.Lparen.IsValid() {
				groups = groupsAbove(c.fset, f.Comments, doc, start, d.Pos())
			}
			for _, name := range spec.Names {
				c.add(name.Pos(), name.Name, place, doc, groups, used)
			}
		}
		start = spec.End()
	}
}

// fields reads the comments of the fields of all structs in a type expression.
func (c *collector) fields(f *ast.File, owner string, expr ast.Expr, used map[*ast.CommentGroup]bool) {
	ast.Inspect(expr, func(n ast.Node) bool {
		st, ok := n.(*ast.StructType)
		if !ok {
			return true
		}
		last := st.Fields.Opening
		for _, field := range st.Fields.List {
			groups := groupsAbove(c.fset, f.Comments, field.Doc, last, field.Pos())
			names := field.Names
			if len(names) == 0 {
				if id := embeddedName(field.Type); id != nil {
					names = []*ast.Ident{id}
				}
			}
			for _, name := range names {
				path := ""
				if n == ast.Node(expr) {
					path = owner + "." + name.Name
				}
				c.add(name.Pos(), path, marker.Field, field.Doc, groups, used)
			}
			last = field.End()
			if field.Comment != nil {
				last = field.Comment.End()
			}
		}
		return true
	})
}

// embeddedName is the identifier that names an embedded field.
func embeddedName(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.StarExpr:
		return embeddedName(e.X)
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr:
		return embeddedName(e.X)
	case *ast.IndexListExpr:
		return embeddedName(e.X)
	case *ast.ParenExpr:
		return embeddedName(e.X)
	}
	return nil
}

// groupsAbove returns the comment group that stands apart above a declaration, between what is before it and its doc,
// and the doc. A comment on the line where the thing before ends is that one's.
func groupsAbove(fset *token.FileSet, all []*ast.CommentGroup, doc *ast.CommentGroup, after, before token.Pos) []*ast.CommentGroup {
	if doc != nil {
		before = doc.Pos()
	}
	line := fset.Position(after).Line
	var apart *ast.CommentGroup
	for _, g := range all {
		if g.Pos() >= before {
			break
		}
		if g.Pos() >= after && g.End() <= before && fset.Position(g.Pos()).Line > line {
			apart = g
		}
	}
	var out []*ast.CommentGroup
	if apart != nil {
		out = append(out, apart)
	}
	if doc != nil {
		out = append(out, doc)
	}
	return out
}

func (c *collector) add(pos token.Pos, name string, place marker.Place, doc *ast.CommentGroup, groups []*ast.CommentGroup, used map[*ast.CommentGroup]bool) {
	n := &note{pos: c.fset.Position(pos)}
	if doc != nil {
		n.doc = docText(doc)
	}
	for _, g := range groups {
		for _, m := range c.parse(g, place) {
			if place == marker.Type && g != doc && m.Name == "k8s:conversion-gen" {
				// conversion-gen reads it nowhere else, and packages rely on what it then generates.
				c.idle(m.Pos, m)
				continue
			}
			n.markers = append(n.markers, m)
		}
		used[g] = true
	}
	c.notes.byPos[pos] = n
	if old := c.notes.byName[name]; old != nil {
		n.literal = old.literal
	}
	if name != "" {
		c.notes.byName[name] = n
	}
}

// parse returns the markers of a comment group and reports their faults.
func (c *collector) parse(g *ast.CommentGroup, place marker.Place) marker.Markers {
	var out marker.Markers
	for _, line := range markerLines(c.fset, g) {
		m, ok, err := marker.Parse(line.text, line.pos)
		if !ok {
			continue
		}
		if err == nil {
			if err = m.CheckPlace(place); err != nil && place&(marker.Func|marker.Const) != 0 {
				c.idle(line.pos, m) // no tool looks there: dead, but harmless
				continue
			}
		}
		if err != nil {
			if c.report != nil {
				c.report(line.pos, err.Error())
			}
			continue
		}
		out = append(out, m)
	}
	return out
}

// alone warns of markers that stand on nothing: behind a field, above a variable, between declarations.
func (c *collector) alone(f *ast.File, used map[*ast.CommentGroup]bool) {
	if c.warn == nil {
		return
	}
	for _, g := range f.Comments {
		if used[g] || inFunction(f, g) {
			continue
		}
		for _, line := range markerLines(c.fset, g) {
			m, ok, err := marker.Parse(line.text, line.pos)
			switch {
			case !ok:
			case m.Definition == nil:
				c.report(line.pos, err.Error())
			case m.Definition.Ignored == "":
				c.idle(line.pos, m)
			}
		}
	}
}

// idle warns of a marker that nothing reads where it stands.
func (c *collector) idle(pos token.Position, m marker.Marker) {
	if c.warn != nil && m.Definition.Ignored == "" {
		c.warn(pos, fmt.Sprintf("marker \"+%s\" has no effect here: put it into the comment right above the %s that it is meant for", m.Name, m.Definition.Places))
	}
}

func inFunction(f *ast.File, g *ast.CommentGroup) bool {
	for _, d := range f.Decls {
		if _, ok := d.(*ast.FuncDecl); ok && d.Pos() <= g.Pos() && g.Pos() <= d.End() {
			return true
		}
	}
	return false
}

type markerLine struct {
	text string
	pos  token.Position
}

// markerLines are the lines of a comment group that begin with a plus sign and a letter, without the sign.
func markerLines(fset *token.FileSet, g *ast.CommentGroup) []markerLine {
	var out []markerLine
	for _, c := range g.List {
		if !strings.Contains(c.Text, "+") {
			continue
		}
		base := fset.Position(c.Pos())
		for i, line := range strings.Split(c.Text, "\n") {
			pos := base
			text := strings.TrimRight(line, "\r \t")
			offset := 0
			if i > 0 {
				pos.Line, pos.Column = base.Line+i, 1
			} else {
				offset = 2 // the comment's own two characters
			}
			if strings.HasPrefix(c.Text, "/*") {
				text = strings.TrimSuffix(text, "*/")
			}
			rest := strings.TrimLeft(text[min(offset, len(text)):], " \t*")
			if len(rest) < 2 || rest[0] != '+' || !letter(rest[1]) {
				continue
			}
			pos.Column += len(text) - len(rest)
			out = append(out, markerLine{text: strings.TrimSpace(rest[1:]), pos: pos})
		}
	}
	return out
}

func letter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

// docText is the text of a comment without markers, up to a line of three dashes.
func docText(g *ast.CommentGroup) string {
	var lines []string
	for _, line := range strings.Split(g.Text(), "\n") {
		t := strings.TrimSpace(line)
		if t == "---" {
			break
		}
		if len(t) > 1 && t[0] == '+' && letter(t[1]) || strings.HasPrefix(t, "TODO") {
			continue
		}
		lines = append(lines, strings.TrimRight(line, " \t"))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
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
		} else {
			b.readNotes(p.Path(), "doc.go", n)
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
	if meta.Module == nil {
		return // the standard library has no markers, and its types no descriptions that matter
	}
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

// reporter reports faults of markers as errors where the user can mend them, else as warnings.
func (b *builder) reporter(s *source, generated bool) reporter {
	return func(pos token.Position, message string) {
		to := &b.errs
		if generated || !own(s.meta) {
			to = &b.warnings
		}
		*to = append(*to, emit.Error{Pos: pos, Message: message})
	}
}

// schemaMethod remembers the first string that OpenAPISchemaType or OpenAPISchemaFormat returns.
func (c *collector) schemaMethod(d *ast.FuncDecl, name string) {
	if d.Name.Name != "OpenAPISchemaType" && d.Name.Name != "OpenAPISchemaFormat" || d.Body == nil {
		return
	}
	n := &note{}
	ast.Inspect(d.Body, func(x ast.Node) bool {
		if lit, ok := x.(*ast.BasicLit); ok && lit.Kind == token.STRING && n.literal == "" {
			n.literal, _ = strconv.Unquote(lit.Value)
		}
		return true
	})
	c.notes.byName[name] = n
}

// receiverName is the name of the type that a method is declared on.
func receiverName(d *ast.FuncDecl) string {
	if len(d.Recv.List) == 0 {
		return ""
	}
	if id := embeddedName(d.Recv.List[0].Type); id != nil {
		return id.Name
	}
	return ""
}
