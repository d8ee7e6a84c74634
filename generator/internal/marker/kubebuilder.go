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
	if rest == "" || rest[0] != ':' && rest[0] != '=' {
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
	if s != "" && strings.IndexByte(quotes, s[0]) >= 0 {
		quoted, tail, ok := cutQuoted(s)
		switch tail = strings.TrimSpace(tail); {
		case !ok:
			return "", "", fmt.Errorf("no closing %c", s[0])
		case tail == "" || tail[0] == ',':
			return Unquote(quoted), strings.TrimPrefix(tail, ","), nil
		case tail[0] != ';':
			return "", "", fmt.Errorf("expected a comma before %q", tail)
		}
	}
	value, rest, _, open := cutOutside(s, ',', "\"`", "{}[]()") // a value that isn't quoted may hold an apostrophe
	switch open {
	case 0:
		return strings.TrimSpace(value), rest, nil
	case '{':
		return "", "", errors.New("no closing bracket")
	}
	return "", "", fmt.Errorf("no closing %c", open)
}

const quotes = "\"'`"

// cutOutside cuts at the first separator outside of quotes and of pairs of brackets. Open is the first quote that
// nothing closes, which counts as text, or '{' for brackets; 0 where all are closed.
func cutOutside(s string, sep byte, quotes, brackets string) (before, after string, found bool, open byte) {
	depth := 0
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(quotes, s[i]) >= 0 {
			if quoted, _, ok := cutQuoted(s[i:]); ok {
				i += len(quoted) - 1
			} else if open == 0 {
				open = s[i]
			}
			continue
		}
		if s[i] == sep && depth <= 0 {
			return s[:i], s[i+1:], true, open
		}
		if at := strings.IndexByte(brackets, s[i]); at >= 0 {
			depth += 1 - at%2*2
		}
	}
	if open == 0 && depth > 0 {
		open = '{'
	}
	return s, "", false, open
}

// splitOutside splits at separators outside of quotes and of pairs of brackets, and leaves out what is empty.
func splitOutside(s string, sep byte, brackets string) []string {
	var out []string
	for found := true; found; {
		var part string
		part, s, found, _ = cutOutside(s, sep, quotes, brackets)
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
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
	out := splitOutside(s, sep, "")
	for i := range out {
		out[i] = Unquote(out[i])
	}
	return out
}
