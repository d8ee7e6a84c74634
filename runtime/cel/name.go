package cel

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
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

// unescape returns the field that an expression names, false if no field has this escaped name.
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

// parseFieldPath reads the fieldPath of a rule, .spec['some.name'].x, and follows it through the schema.
func parseFieldPath(text string, s *Schema) (*field.Path, error) {
	var path *field.Path
	for rest := text; rest != ""; {
		var name string
		var err error
		switch rest[0] {
		case '.':
			rest = rest[1:]
			end := strings.IndexAny(rest, ".[]")
			if end < 0 {
				end = len(rest)
			}
			if end == 0 {
				return nil, fmt.Errorf("a name is missing after a dot")
			}
			name, rest = rest[:end], rest[end:]
		case '[':
			if name, rest, err = quoted(rest[1:]); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("expected [ or . but got: %s", rest)
		}
		switch {
		case s != nil && s.Properties != nil:
			if s = s.Properties[name]; s == nil {
				return nil, fmt.Errorf("does not refer to a valid field")
			}
			path = path.Child(name)
		case s != nil && s.Values != nil:
			s, path = s.Values, path.Key(name)
		default:
			return nil, fmt.Errorf("does not refer to a valid field")
		}
	}
	return path, nil
}

func quoted(text string) (name, rest string, err error) {
	if text == "" || text[0] != '\'' {
		return "", "", fmt.Errorf("expected single quoted string but got %s", text)
	}
	var out strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; c {
		case '\'':
			if !strings.HasPrefix(text[i+1:], "]") {
				return "", "", fmt.Errorf("expected ] but got %s", text[i+1:])
			}
			return out.String(), text[i+2:], nil
		case '\\':
			i++
			at := -1
			if i < len(text) {
				at = strings.IndexByte(`abfnrtv'\`, text[i])
			}
			if at < 0 {
				return "", "", fmt.Errorf("invalid string literal: invalid escape char %s", text[i-1:])
			}
			out.WriteByte("\a\b\f\n\r\t\v'\\"[at])
		default:
			out.WriteByte(c)
		}
	}
	return "", "", fmt.Errorf("unexpected end of JSON path")
}
