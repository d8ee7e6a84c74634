package crd

import (
	"strings"
)

// description is a comment as a schema tells it: line by line, without what is for developers, lines that begin with
// TODO and what follows dashes, as long as these don't stand in a block of code.
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
