package crd

import (
	"strings"
)

// description returns a doc comment as the description of a schema, line by line, without markers, lines that begin
// with TODO and the text after a line of dashes. In a block of code, it keeps all lines.
func description(doc string) string {
	var out []string
	code := false
	for _, line := range strings.Split(doc, "\n") {
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			code = !code
		}
		if !code {
			if strings.HasPrefix(line, "---") {
				break
			}
			if strings.HasPrefix(line, "TODO") || strings.HasPrefix(line, "+") {
				continue
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}
