package model

import (
	"strings"
	"unicode"
)

// EscapeDocLine returns a line of text as a doc comment shows it. A line that would be a marker there, or would be for
// developers only, gets a backslash in front of its first character that is not white space.
func EscapeDocLine(line string) string {
	space, text := splitIndent(line)
	if !forDevelopers(strings.TrimLeft(text, `\`)) {
		return line
	}
	return space + `\` + text
}

// UnescapeDocLine returns the text of a line that EscapeDocLine wrote, and any other line as it is. Only a line that
// those who show doc comments keep may be passed to it.
func UnescapeDocLine(line string) string {
	space, text := splitIndent(line)
	rest, escaped := strings.CutPrefix(text, `\`)
	if !escaped || !forDevelopers(strings.TrimLeft(rest, `\`)) {
		return line
	}
	return space + rest
}

// splitIndent separates the white space in front of a line. Readers of comments don't agree on which characters it has.
func splitIndent(line string) (space, text string) {
	text = strings.TrimLeftFunc(line, unicode.IsSpace)
	return line[:len(line)-len(text)], text
}

// forDevelopers reports whether a line of a doc comment is a marker, which may stand behind asterisks, or is left out
// of descriptions, or ends them.
func forDevelopers(text string) bool {
	return strings.HasPrefix(text, "---") || strings.HasPrefix(text, "TODO") ||
		strings.HasPrefix(strings.TrimLeft(text, " \t*"), "+")
}
