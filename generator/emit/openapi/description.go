package openapi

import (
	"strings"
)

// description turns a doc comment into a description as Kubernetes' documents have it: the lines of a paragraph are
// joined, indented ones keep their place, markers, TODO lines and everything behind a line of dashes are left out.
func description(doc string) string {
	var out strings.Builder
	space := func() { // between what was written and what follows
		if s := out.String(); s != "" && !strings.HasSuffix(s, "\n") {
			out.WriteByte(' ')
		}
	}
	for _, line := range strings.Split(doc, "\n") {
		line = strings.TrimRight(line, " \t\r")
		text := strings.TrimLeft(line, " \t")
		switch {
		case strings.HasPrefix(text, "---"):
			return strings.TrimSpace(out.String())
		case strings.HasPrefix(text, "+"), strings.HasPrefix(text, "TODO"):
		case text == "":
			if s := out.String(); s != "" && !strings.HasSuffix(s, "\n\n") {
				out.WriteString(strings.Repeat("\n", 2-trailing(s)))
			}
		case line != text:
			if s := out.String(); s != "" && trailing(s) == 0 {
				out.WriteByte('\n')
			}
			out.WriteString(line + "\n")
		default:
			space()
			out.WriteString(text)
		}
	}
	return strings.TrimSpace(out.String())
}

// trailing counts the line feeds at the end, up to two.
func trailing(s string) int {
	n := 0
	for n < 2 && strings.HasSuffix(s[:len(s)-n], "\n") {
		n++
	}
	return n
}
