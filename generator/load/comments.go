package load

import (
	"go/ast"
	"go/token"
	"strconv"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/marker"
)

// collector reads the comments of files.
type collector struct {
	fset     *token.FileSet
	comments *Comments
	// reads takes what markers mean to the loader; it may be nil.
	reads *reads
	// reporting: faults of markers are noted. generated: the file is another tool's, whose faults are never errors.
	reporting, generated bool
}

// report notes a fault of a marker.
func (c *collector) report(pos token.Position, message string) {
	if c.reporting {
		c.comments.faults = append(c.comments.faults, fault{diag.Error{Pos: pos, Message: message}, c.generated})
	}
}

// warn notes what has no effect where it stands, in files of the user's.
func (c *collector) warn(pos token.Position, message string) {
	if c.reporting && !c.generated {
		c.comments.warnings = append(c.comments.warnings, fault{Error: diag.Error{Pos: pos, Message: message}})
	}
}

// see takes note of what a marker means to the loader, wherever it stands.
func (c *collector) see(m marker.Marker) {
	if c.reads != nil {
		c.reads.add(m)
	}
}

// file adds the comments of a file.
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
	n := &c.comments.Package
	for _, g := range f.Comments {
		if g.Pos() > f.Package {
			break
		}
		used[g] = true
		n.Markers = append(n.Markers, c.parse(g, marker.Package, false)...)
	}
	if f.Doc != nil {
		if d := docText(f.Doc); d != "" && n.Doc == "" {
			n.Doc = d
		}
	}
	if !n.Pos.IsValid() || len(n.Markers) > 0 && n.Pos.Filename != n.Markers[0].Pos.Filename {
		n.Pos = c.fset.Position(f.Package)
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
			c.comments.byPos[spec.Name.Pos()].over = nameIn(f, spec.Type)
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
func groupsAbove(fset *token.FileSet, all []*ast.CommentGroup, doc *ast.CommentGroup, after,
	before token.Pos) []*ast.CommentGroup {
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

func (c *collector) add(pos token.Pos, name string, place marker.Place, doc *ast.CommentGroup,
	groups []*ast.CommentGroup, used map[*ast.CommentGroup]bool) {
	n := &Comment{Pos: c.fset.Position(pos)}
	if doc != nil {
		n.Doc = docText(doc)
	}
	for _, g := range groups {
		for _, m := range c.parse(g, place, g != doc) {
			if place == marker.Type && g != doc && m.Definition.Read.DocOnly {
				// conversion-gen reads its own nowhere else, and packages rely on what it then generates.
				c.idle(m.Pos, m)
				continue
			}
			n.Markers = append(n.Markers, m)
		}
		used[g] = true
	}
	for _, e := range n.Markers.Disagreements() {
		c.report(e.Pos, e.Message)
	}
	c.comments.byPos[pos] = n
	if old := c.comments.byName[name]; old != nil {
		n.Literal = old.Literal
	}
	if name != "" {
		c.comments.byName[name] = n
	}
}

// parse returns the markers of a comment group and reports their faults. Markers of the package that stand in a group
// apart are added to those of the package.
func (c *collector) parse(g *ast.CommentGroup, place marker.Place, apart bool) marker.Markers {
	var out marker.Markers
	for _, line := range markerLines(c.fset, g) {
		m, ok, err := marker.Parse(line.text, line.pos)
		if !ok {
			if s := marker.Doubt(line.text); s != "" {
				c.warn(line.pos, s)
			}
			continue
		}
		c.see(m)
		if apart && err == nil && ofPackage(m, place) {
			c.comments.Package.Markers = append(c.comments.Package.Markers, m)
			continue
		}
		if err == nil {
			if err = m.CheckPlace(place); err != nil && place&(marker.Func|marker.Const) != 0 {
				c.idle(line.pos, m) // no tool looks there: dead, but harmless
				continue
			}
		}
		if err != nil {
			c.report(line.pos, err.Error())
			continue
		}
		out = append(out, m)
	}
	return out
}

// schemaMethod remembers the first string that OpenAPISchemaType or OpenAPISchemaFormat returns.
func (c *collector) schemaMethod(d *ast.FuncDecl, name string) {
	if d.Name.Name != "OpenAPISchemaType" && d.Name.Name != "OpenAPISchemaFormat" || d.Body == nil {
		return
	}
	n := &Comment{}
	ast.Inspect(d.Body, func(x ast.Node) bool {
		if lit, ok := x.(*ast.BasicLit); ok && lit.Kind == token.STRING && n.Literal == "" {
			n.Literal, _ = strconv.Unquote(lit.Value)
		}
		return true
	})
	c.comments.byName[name] = n
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
