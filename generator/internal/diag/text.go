package diag

import (
	"go/token"
	"os"
	"regexp"
	"strings"
)

// TextAt returns the source text at a position, as far as it matches a pattern.
func TextAt(pos token.Position, pattern *regexp.Regexp) string {
	data, err := os.ReadFile(pos.Filename)
	if err != nil {
		return ""
	}
	lines := strings.Split(string(data), "\n")
	if pos.Line < 1 || pos.Line > len(lines) || pos.Column < 1 || pos.Column > len(lines[pos.Line-1]) {
		return ""
	}
	return pattern.FindString(lines[pos.Line-1][pos.Column-1:])
}
