package load

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"apigen.dev/generator/marker"
)

// ofPackage tells whether a marker in a group apart above something is the package's: one that types have, too, is
// theirs.
func ofPackage(m marker.Marker, place marker.Place) bool {
	return m.Definition != nil && m.Definition.Read.Apart && (place != marker.Type || m.Definition.Set.Type == nil)
}

// alone reads the groups that belong to nothing: below the package clause, between declarations. Markers of the package
// count there; of others it warns, as of all that stand behind a field or above a variable.
func (c *collector) alone(f *ast.File, used map[*ast.CommentGroup]bool) {
	for _, g := range f.Comments {
		if used[g] || inFunction(f, g) {
			continue
		}
		free := !inDeclaration(f, g)
		for _, line := range markerLines(c.fset, g) {
			m, ok, err := marker.Parse(line.text, line.pos)
			if ok {
				c.see(m)
			}
			switch {
			case !ok:
			case free && err == nil && ofPackage(m, marker.Package):
				c.comments.Package.Markers = append(c.comments.Package.Markers, m)
			case c.generated: // the user can't edit the file
			case m.Definition == nil:
				c.report(line.pos, err.Error())
			case m.Definition.Ignored == "":
				c.idle(line.pos, m)
			}
		}
	}
}

// inDeclaration tells whether a group stands in a declaration or is its doc.
func inDeclaration(f *ast.File, g *ast.CommentGroup) bool {
	for _, d := range f.Decls {
		if d.Pos() <= g.Pos() && g.Pos() <= d.End() {
			return true
		}
		if gen, ok := d.(*ast.GenDecl); ok && gen.Doc == g {
			return true
		}
	}
	return false
}

// idle warns of a marker that nothing reads where it stands.
func (c *collector) idle(pos token.Position, m marker.Marker) {
	if m.Definition.Ignored == "" {
		c.warn(pos, fmt.Sprintf("marker \"+%s\" has no effect here: put it into the comment right above the %s "+
			"that it is meant for", m.Name, m.Definition.Places))
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

// docText is the text of a comment without its markers. Lines that are for developers only, TODO and what follows
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
