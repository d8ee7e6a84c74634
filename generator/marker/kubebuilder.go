package marker

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// parseKubebuilder parses what follows the name of a marker in controller-gen's grammar: nothing, =value, :=value, or
// :key=value,key=value. A bare word without an equals sign is a key that is true.
func parseKubebuilder(m *Marker, rest string) error {
	rest = strings.TrimSpace(rest)
	if v, ok := strings.CutPrefix(rest, ":="); ok {
		rest = "=" + v
	}
	if m.Definition.Kind != Arguments {
		v, ok := strings.CutPrefix(rest, "=")
		if !ok {
			return nil // words behind the marker are a remark
		}
		m.HasValue = true
		m.Value = trimRemark(m.Definition, v)
		if m.Definition.Kind == Text || m.Definition.Kind == OptionalText {
			m.Value = Unquote(m.Value)
		}
		return nil
	}
	if rest == "" {
		return nil
	}
	if rest[0] != ':' && rest[0] != '=' {
		return nil
	}
	m.HasValue, m.Value = true, rest[1:]
	if rest[0] == '=' && !strings.HasPrefix(m.Name, "kubebuilder:rbac") {
		return errors.New("expected a colon and arguments: +" + m.Name + ":key=value")
	}
	args, err := parseArguments(rest[1:])
	m.Args = args
	return err
}

// parseArguments splits key=value pairs at commas that stand outside of quotes, braces and brackets.
func parseArguments(s string) ([]Arg, error) {
	var out []Arg
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		end := strings.IndexAny(s, "=,")
		if end < 0 {
			return append(out, Arg{Key: s, Value: "true", Bare: true}), nil
		}
		key := strings.TrimSpace(s[:end])
		if key == "" {
			return out, fmt.Errorf("expected key=value at %q", s)
		}
		if s[end] == ',' {
			out, s = append(out, Arg{Key: key, Value: "true", Bare: true}), s[end+1:]
			continue
		}
		value, rest, err := cutValue(strings.TrimSpace(s[end+1:]))
		if err != nil {
			return out, fmt.Errorf("%s: %w", key, err)
		}
		out, s = append(out, Arg{Key: key, Value: value}), rest
	}
	return out, nil
}

// cutValue cuts the first value from the front; the rest begins behind the comma that follows it.
func cutValue(s string) (value, rest string, err error) {
	if s == "" {
		return "", "", nil
	}
	switch s[0] {
	case '"', '\'', '`':
		quoted, tail, ok := cutQuoted(s)
		if !ok {
			return "", "", fmt.Errorf("no closing %c", s[0])
		}
		value = Unquote(quoted)
		tail = strings.TrimSpace(tail)
		if tail == "" {
			return value, "", nil
		}
		if after, ok := strings.CutPrefix(tail, ","); ok {
			return value, after, nil
		}
		if tail[0] == ';' {
			return cutBare(s)
		}
		return "", "", fmt.Errorf("expected a comma before %q", tail)
	}
	return cutBare(s)
}

// cutBare cuts up to the first comma outside of quotes and brackets.
func cutBare(s string) (value, rest string, err error) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"', '`':
			_, tail, ok := cutQuoted(s[i:])
			if !ok {
				return "", "", fmt.Errorf("no closing %c", s[i])
			}
			i = len(s) - len(tail) - 1
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			depth--
		case ',':
			if depth <= 0 {
				return strings.TrimSpace(s[:i]), s[i+1:], nil
			}
		}
	}
	if depth > 0 {
		return "", "", errors.New("no closing bracket")
	}
	return strings.TrimSpace(s), "", nil
}

// cutQuoted cuts a quoted string, quotes included; s begins with the quote.
func cutQuoted(s string) (quoted, rest string, ok bool) {
	q := s[0]
	for i := 1; i < len(s); i++ {
		if s[i] == '\\' && q != '`' {
			i++
			continue
		}
		if s[i] == q {
			return s[:i+1], s[i+1:], true
		}
	}
	return "", "", false
}

// Unquote returns a quoted string without its quotes, whichever they are, and other text as it is.
func Unquote(s string) string {
	if len(s) < 2 || s[0] != s[len(s)-1] {
		return s
	}
	switch s[0] {
	case '\'', '`':
		return s[1 : len(s)-1]
	case '"':
		if v, err := strconv.Unquote(s); err == nil {
			return v
		}
	}
	return s
}

// SplitList splits a;b;c or {a,b,c} into its elements, and removes their quotes.
func SplitList(s string) []string {
	s = strings.TrimSpace(s)
	sep := byte(';')
	if strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}") && len(s) >= 2 {
		s, sep = s[1:len(s)-1], ','
	}
	var out []string
	for start, i := 0, 0; i <= len(s); i++ {
		if i < len(s) && (s[i] == '"' || s[i] == '`' || s[i] == '\'') {
			if _, tail, ok := cutQuoted(s[i:]); ok {
				i = len(s) - len(tail) - 1
				continue
			}
		}
		if i == len(s) || s[i] == sep {
			if e := strings.TrimSpace(s[start:i]); e != "" {
				out = append(out, Unquote(e))
			}
			start = i + 1
		}
	}
	return out
}
