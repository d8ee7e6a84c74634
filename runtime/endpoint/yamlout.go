package endpoint

import (
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// toYAML turns JSON into YAML. JSON holds characters that YAML doesn't take as they are; those are escaped first, which is
// possible in strings alone, and there is nothing else that they may stand in.
func toYAML(data []byte) ([]byte, error) {
	return yaml.JSONToYAML(escapeForYAML(data))
}

const hexDigits = "0123456789abcdef"

func escapeForYAML(data []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(data); {
		if c := data[i]; c < utf8.RuneSelf && c != 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(data[i:])
		if !printableInYAML(r) {
			out = append(append(out, data[done:i]...), '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
			done = i + n
		}
		i += n
	}
	if done == 0 {
		return data
	}
	return append(out, data[done:]...)
}

// printableInYAML tells of characters beyond ASCII's printable ones whether they may stand in a YAML document as they are:
// not control characters, line breaks, byte order marks, and what is no character.
func printableInYAML(r rune) bool {
	switch r {
	case 0x2028, 0x2029, 0xfeff, 0xfffe, 0xffff:
		return false
	}
	return r >= 0xa0
}
