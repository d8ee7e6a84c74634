package cel

import (
	"regexp"
	"strings"
)

// reserved are words that expressions can't use as names.
var reserved = map[string]bool{
	"true": true, "false": true, "null": true, "in": true, "as": true, "break": true, "const": true, "continue": true,
	"else": true, "for": true, "function": true, "if": true, "import": true, "let": true, "loop": true, "package": true,
	"namespace": true, "return": true, "var": true, "void": true, "while": true,
}

// escapes are the characters that names of fields may have and names in expressions may not.
var (
	escapes   = strings.NewReplacer("__", "__underscores__", ".", "__dot__", "-", "__dash__", "/", "__slash__")
	sequences = map[string]string{"underscores": "__", "dot": ".", "dash": "-", "slash": "/"}
)

// Escape returns the name of a field in expressions: __namespace__ for namespace, a__dash__b for a-b. It returns false
// where expressions can't name the field.
func Escape(name string) (string, bool) {
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return "", false
	}
	if reserved[name] {
		return "__" + name + "__", true
	}
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '.', c == '-', c == '/':
		default:
			return "", false
		}
	}
	return escapes.Replace(name), true
}

// sequence is an escape sequence in a name.
var sequence = regexp.MustCompile(`__[^_]+__`)

// unescape returns the field that an expression names, false where no field has this escaped name.
func unescape(name string) (string, bool) {
	if !strings.Contains(name, "__") {
		return name, true
	}
	valid := true
	plain := sequence.ReplaceAllStringFunc(name, func(found string) string {
		word := found[2 : len(found)-2]
		if s, ok := sequences[word]; ok {
			return s
		}
		valid = valid && reserved[word] && len(found) == len(name)
		return word
	})
	return plain, valid
}
