package load

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"apigen.dev/generator/internal/marker"
)

// ofPackage reports whether a marker in a detached group above a declaration belongs to the package. A marker that
// types can have, too, belongs to the type.
func ofPackage(m marker.Marker, place marker.Place) bool {
	return m.Definition != nil && m.Definition.Read.Detached && (place != marker.Type || m.Definition.Set.Type == nil)
}

// detached reads the comment groups that belong to no declaration. Markers of the package count between declarations;
// it warns of others, and of all markers behind a field or above a variable.
func (c *collector) detached() {
	for _, g := range c.file.Comments {
		around := c.declarationAround(g)
		if _, function := around.(*ast.FuncDecl); function || c.read[g] {
			continue
		}
		for _, line := range markerLines(c.fset, g) {
			m, ok, err := marker.Parse(line.text, line.pos)
			if ok {
				c.reads.add(m)
			}
			switch {
			case !ok:
			case around == nil && err == nil && ofPackage(m, marker.Package):
				c.comments.Package.Markers = append(c.comments.Package.Markers, m)
			case c.generated: // the user can't edit the file
			case m.Definition == nil:
				c.report(line.pos, err.Error())
			case m.Definition.Ignored == "":
				c.warnMisplaced(m)
			}
		}
	}
}

// declarationAround returns the declaration that holds a comment group or has it as its doc; nil if there is none.
func (c *collector) declarationAround(g *ast.CommentGroup) ast.Decl {
	for _, d := range c.file.Decls {
		if gen, ok := d.(*ast.GenDecl); ok && gen.Doc == g || d.Pos() <= g.Pos() && g.Pos() <= d.End() {
			return d
		}
	}
	return nil
}

// warnMisplaced warns of a marker that has no effect where it stands.
func (c *collector) warnMisplaced(m marker.Marker) {
	if m.Definition.Ignored == "" {
		c.warn(m.Pos, fmt.Sprintf("marker \"+%s\" has no effect here: put it into the comment right above the %s "+
			"that it is meant for", m.Name, m.Definition.Places))
	}
}

type markerLine struct {
	text string
	pos  token.Position
}

// markerLines returns the lines of a comment group that begin with a plus sign and a letter, without the sign.
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

// docText returns the text of a comment without its markers. Lines that are for developers only, TODO and what follows
// dashes, are left to whoever shows it.
func docText(g *ast.CommentGroup) string {
	kept := new(ast.CommentGroup)
	block := false
	for _, c := range g.List {
		rest, line := strings.CutPrefix(c.Text, "//")
		rest = strings.TrimSpace(rest)
		if line && len(rest) > 1 && rest[0] == '+' && letter(rest[1]) {
			continue
		}
		block = block || !line
		kept.List = append(kept.List, c)
	}
	text := strings.TrimRight(kept.Text(), "\n")
	if !block {
		return text
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}
