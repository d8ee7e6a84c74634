package endpoint

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// isYAMLText tells whether YAML allows the characters of a JSON text. YAML doesn't allow invalid UTF-8, control
// characters and escaped halves of surrogate pairs, which Go's JSON decoder replaces by U+FFFD.
func isYAMLText(data []byte) bool {
	for i := 0; i < len(data); {
		if data[i] == '\\' {
			size := escapeSize(data[i:])
			if size == 0 {
				return false
			}
			i += size
			continue
		}
		char, size := utf8.DecodeRune(data[i:])
		if char == utf8.RuneError && size == 1 || !isYAMLChar(char) {
			return false
		}
		i += size
	}
	return true
}

// isYAMLChar tells whether YAML allows a character of valid JSON.
func isYAMLChar(char rune) bool {
	switch {
	case char < 0x7f:
		return true // the JSON decoder has refused the control characters
	case char < 0xa0:
		return char == 0x85
	}
	return char != 0xfffe && char != 0xffff
}

// escapeSize returns the length of the escape with which data, valid JSON, begins; 0 for half a surrogate pair.
func escapeSize(data []byte) int {
	const size = len(`\u1234`)
	first, ok := escapedUnit(data)
	switch {
	case !ok:
		return len(`\n`)
	case !utf16.IsSurrogate(first):
		return size
	}
	second, ok := escapedUnit(data[size:])
	if !ok || utf16.DecodeRune(first, second) == utf8.RuneError {
		return 0
	}
	return 2 * size
}

// escapedUnit reads an escape of the form \u1234.
func escapedUnit(data []byte) (rune, bool) {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(data[2:6]), 16, 16)
	return rune(unit), err == nil
}
