package load

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/marker"
)

type collector struct {
	fset     *token.FileSet
	file     *ast.File
	comments *Comments
	// read are the comment groups that belong to a declaration or to the package clause.
	read map[*ast.CommentGroup]bool
	// reads takes what markers mean to the loader.
	reads *reads
	// reporting: faults of markers are noted. lenient: they are warnings, for the user can't mend them or doesn't want
	// to. own: the file is in a module of the user's. generated: another tool wrote it.
	reporting, lenient, own, generated bool
}

func newCollector(fset *token.FileSet, f *ast.File, comments *Comments) *collector {
	return &collector{fset: fset, file: f, comments: comments, read: map[*ast.CommentGroup]bool{},
		reads: new(reads)}
}

func (c *collector) report(pos token.Position, message string) {
	switch {
	case !c.reporting:
	case c.lenient:
		c.comments.warnings = append(c.comments.warnings,
			diag.Error{Pos: pos, Message: message, Unenforced: diag.Markers})
	default:
		c.comments.errs = append(c.comments.errs, diag.Error{Pos: pos, Message: message, Lenient: true})
	}
}

// warn notes what has no effect where it stands, in files of the user's.
func (c *collector) warn(pos token.Position, message string) {
	if c.reporting && c.own && !c.generated {
		c.comments.warnings.Add(pos, "%s", message)
	}
}

func (c *collector) disagreements(ms marker.Markers) {
	for _, e := range ms.Disagreements() {
		c.report(e.Pos, e.Message)
	}
}

func (c *collector) collect() {
	c.packageClause()
	last := c.file.Name.End()
	for _, d := range c.file.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			c.gen(d, last)
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = receiverName(d) + "." + name + "()"
				c.schemaMethod(d, name)
			}
			c.add(d.Name.Pos(), name, marker.Func, d.Doc, c.groupsAbove(d.Doc, last, d.Pos()))
		}
		last = d.End()
	}
	c.detached()
}

// packageClause reads the comments above the package clause; all groups count.
func (c *collector) packageClause() {
	n := &c.comments.Package
	for _, g := range c.file.Comments {
		if g.Pos() > c.file.Package {
			break
		}
		c.read[g] = true
		n.Markers = append(n.Markers, c.parse(g, marker.Package, false)...)
	}
	if c.file.Doc != nil && n.Doc == "" {
		n.Doc = docText(c.file.Doc)
	}
	if !n.Pos.IsValid() || len(n.Markers) > 0 && n.Pos.Filename != n.Markers[0].Pos.Filename {
		n.Pos = c.fset.Position(c.file.Package)
	}
}

func (c *collector) gen(d *ast.GenDecl, last token.Pos) {
	place := map[token.Token]marker.Place{token.TYPE: marker.Type, token.CONST: marker.Const}[d.Tok]
	if place == 0 {
		return
	}
	grouped := d.Lparen.IsValid()
	if grouped {
		last = d.Lparen
		if d.Doc != nil {
			c.read[d.Doc] = true
		}
	}
	for _, spec := range d.Specs {
		var doc *ast.CommentGroup
		var names []*ast.Ident
		begin := spec.Pos()
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			doc, names = spec.Doc, []*ast.Ident{spec.Name}
		case *ast.ValueSpec:
			doc, names = spec.Doc, spec.Names
		}
		if !grouped {
			begin = d.Pos()
			if doc == nil {
				doc = d.Doc
			}
		}
		groups := c.groupsAbove(doc, last, begin)
		for _, name := range names {
			c.add(name.Pos(), name.Name, place, doc, groups)
		}
		if spec, ok := spec.(*ast.TypeSpec); ok {
			switch over := ast.Unparen(spec.Type).(type) {
			case *ast.Ident, *ast.SelectorExpr:
				n := c.comments.byPos[spec.Name.Pos()]
				n.over, n.file = over, c.file
			}
			c.fields(spec.Name.Name, spec.Type)
		}
		last = spec.End()
	}
}

func (c *collector) fields(owner string, expr ast.Expr) {
	ast.Inspect(expr, func(n ast.Node) bool {
		st, ok := n.(*ast.StructType)
		if !ok {
			return true
		}
		last := st.Fields.Opening
		for _, field := range st.Fields.List {
			groups := c.groupsAbove(field.Doc, last, field.Pos())
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
				c.add(name.Pos(), path, marker.Field, field.Doc, groups)
			}
			last = field.End()
			if field.Comment != nil {
				last = field.Comment.End()
			}
		}
		return true
	})
}

func embeddedName(e ast.Expr) *ast.Ident {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.StarExpr:
		return embeddedName(e.X)
	case *ast.IndexExpr:
		return embeddedName(e.X)
	case *ast.IndexListExpr:
		return embeddedName(e.X)
	}
	return nil
}

// groupsAbove returns the detached comment group above a declaration, between what is before it and its doc, and the
// doc. A comment on the line where the thing before ends belongs to that one.
func (c *collector) groupsAbove(doc *ast.CommentGroup, after, before token.Pos) []*ast.CommentGroup {
	var out []*ast.CommentGroup
	if doc != nil {
		before = doc.Pos()
		out = append(out, doc)
	}
	line := c.fset.Position(after).Line
	for _, g := range slices.Backward(c.file.Comments) {
		if g.Pos() >= after && g.End() <= before && g.Pos() < before && c.fset.Position(g.Pos()).Line > line {
			return append([]*ast.CommentGroup{g}, out...)
		}
	}
	return out
}

func (c *collector) add(pos token.Pos, name string, place marker.Place, doc *ast.CommentGroup,
	groups []*ast.CommentGroup) {
	n := &Comment{Pos: c.fset.Position(pos)}
	if doc != nil {
		n.Doc = docText(doc)
	}
	for _, g := range groups {
		for _, m := range c.parse(g, place, g != doc) {
			if place == marker.Type && g != doc && m.Definition.Read.DocOnly {
				// conversion-gen reads its own nowhere else, and packages rely on what it then generates.
				c.warnMisplaced(m)
				continue
			}
			n.Markers = append(n.Markers, m)
		}
		c.read[g] = true
	}
	c.disagreements(n.Markers)
	c.comments.byPos[pos] = n
	if old := c.comments.byName[name]; old != nil {
		n.Literal = old.Literal
	}
	if name != "" {
		c.comments.byName[name] = n
	}
}

// parse returns the markers of a comment group and reports their faults. It adds markers of the package that stand in a
// detached group to those of the package.
func (c *collector) parse(g *ast.CommentGroup, place marker.Place, detached bool) marker.Markers {
	var out marker.Markers
	for _, line := range markerLines(c.fset, g) {
		m, ok, err := marker.Parse(line.text, line.pos)
		if !ok {
			if s := marker.Doubt(line.text); s != "" {
				c.warn(line.pos, s)
			}
			continue
		}
		c.reads.add(m)
		if detached && err == nil && ofPackage(m, place) {
			c.comments.Package.Markers = append(c.comments.Package.Markers, m)
			continue
		}
		if err == nil {
			if err = m.CheckPlace(place); err != nil && place&(marker.Func|marker.Const) != 0 {
				c.warnMisplaced(m) // no tool looks there: dead, but harmless
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

func receiverName(d *ast.FuncDecl) string {
	if len(d.Recv.List) == 0 {
		return ""
	}
	if id := embeddedName(d.Recv.List[0].Type); id != nil {
		return id.Name
	}
	return ""
}
