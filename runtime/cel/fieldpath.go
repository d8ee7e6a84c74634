package cel

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

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

// quoted reads a name in single quotes and the bracket behind it.
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
