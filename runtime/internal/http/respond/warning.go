package respond

import (
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of all Warning headers of an answer. If the texts have more runes in sum, each is cut.
const (
	maxWarningRunes = 4 * 1024
	cutWarningRunes = 256
	maxWarnings     = 64
)

// AddWarnings adds a Warning header for each text: 299 - "text". It leaves out empty texts and repetitions, and
// replaces control characters by spaces.
func AddWarnings(header http.Header, texts []string) {
	total := 0
	for _, text := range texts {
		total += utf8.RuneCountInString(text)
	}
	cut := total > maxWarningRunes
	seen := map[string]bool{}
	left := maxWarningRunes
	for _, text := range texts {
		if text == "" || seen[text] {
			continue
		}
		if len(seen) == maxWarnings || left <= 0 {
			return
		}
		seen[text] = true
		header.Add("Warning", warningHeader(text, cut))
		left -= min(utf8.RuneCountInString(text), cutWarningRunes)
	}
}

func warningHeader(text string, cut bool) string {
	var b strings.Builder
	b.WriteString(`299 - "`)
	runes := 0
	for _, r := range text {
		if runes++; cut && runes > cutWarningRunes {
			break
		}
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsControl(r):
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
