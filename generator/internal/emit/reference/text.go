package reference

import (
	"fmt"
	"go/doc/comment"
	"html"
	htmltemplate "html/template"
	"io"
	"regexp"
	"strings"
	texttemplate "text/template"

	"apigen.dev/generator/internal/model"
	"apigen.dev/templates"
)

type text struct{ doc *comment.Doc }

var listItem = regexp.MustCompile(`^([-*•]|\d+[.)]) `)

// parse reads a doc comment as Kubernetes writes them: markers, TODO lines and the text after a line of dashes are for
// developers unless a backslash precedes them, and lists begin at the margin.
func parse(doc string) text {
	var lines []string
	for _, line := range strings.Split(doc, "\n") {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "---") {
			break
		}
		if strings.HasPrefix(trimmed, "+") || strings.HasPrefix(trimmed, "TODO") {
			continue
		}
		line = model.UnescapeDocLine(line)
		if listItem.MatchString(line) {
			if n := len(lines); n > 0 && lines[n-1] != "" && !strings.HasPrefix(lines[n-1], " ") {
				lines = append(lines, "")
			}
			line = "  " + line
		}
		lines = append(lines, line)
	}
	var p comment.Parser
	return text{p.Parse(strings.Join(lines, "\n"))}
}

// render renders the comment. Headings in it are no headings of the page, and links between Go declarations are none.
func (t text) render(form func(*comment.Printer, *comment.Doc) []byte) string {
	if t.Empty() {
		return ""
	}
	return string(form(&comment.Printer{
		HeadingLevel: 5,
		HeadingID:    func(*comment.Heading) string { return "" },
		DocLinkURL:   func(*comment.DocLink) string { return "" },
	}, t.doc))
}

// Empty reports whether there is nothing to show.
func (t text) Empty() bool { return t.doc == nil || len(t.doc.Content) == 0 }

// HTML returns the comment as HTML, escaped by go/doc/comment.
func (t text) HTML() htmltemplate.HTML {
	return htmltemplate.HTML(t.render((*comment.Printer).HTML)) //nolint:gosec // the printer escapes all text
}

// Markdown returns the comment as Markdown.
func (t text) Markdown() string { return strings.TrimSpace(t.render((*comment.Printer).Markdown)) }

// Cell returns the comment for a cell of a table in Markdown: HTML in one line, without characters that Markdown
// interprets.
func (t text) Cell() string {
	out := preformatted.ReplaceAllStringFunc(t.render((*comment.Printer).HTML),
		func(block string) string { return strings.ReplaceAll(block, "\n", "<br>") })
	out = strings.TrimSpace(strings.ReplaceAll(out, "\n", " "))
	return inert(strings.TrimSpace(strings.TrimPrefix(out, "<p>")))
}

var preformatted = regexp.MustCompile(`(?s)<pre>.*?</pre>`)

// inert escapes the characters outside of tags that Markdown would interpret as markup.
func inert(s string) string {
	var out strings.Builder
	tag := false
	for _, r := range s {
		switch {
		case r == '<':
			tag = true
		case r == '>':
			tag = false
		case !tag && strings.ContainsRune("*_`[]\\~|!$", r):
			fmt.Fprintf(&out, "&#%d;", r)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// words returns a rule's text, with code in it, as HTML that Markdown doesn't interpret.
func words(s string) string {
	parts := strings.Split(s, codeMark)
	var out strings.Builder
	for i, part := range parts {
		part = inert(html.EscapeString(strings.ReplaceAll(part, "\n", " ")))
		if i%2 == 1 {
			part = "<code>" + part + "</code>"
		}
		out.WriteString(part)
	}
	return out.String()
}

// pages are the templates by the ending of their files.
var pages = map[string]func(io.Writer, *page) error{
	".md":   markdown,
	".html": hypertext,
}

func markdown(out io.Writer, p *page) error {
	tmpl, err := texttemplate.New("page.md.tmpl").Funcs(texttemplate.FuncMap{
		"words": words, "join": strings.Join, "code": code,
		"inert": func(s string) string { return inert(html.EscapeString(s)) },
	}).ParseFS(templates.FS, "reference/page.md.tmpl")
	if err != nil {
		return err
	}
	return tmpl.Execute(out, p)
}

func hypertext(out io.Writer, p *page) error {
	tmpl, err := htmltemplate.New("page.html.tmpl").Funcs(htmltemplate.FuncMap{
		//nolint:gosec // G203: words escapes
		"words": func(s string) htmltemplate.HTML { return htmltemplate.HTML(words(s)) },
		"code":  code, "join": strings.Join,
	}).ParseFS(templates.FS, "reference/page.html.tmpl")
	if err != nil {
		return err
	}
	return tmpl.Execute(out, p)
}
