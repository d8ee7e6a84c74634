package marker

import (
	"errors"
	"strings"

	"k8s.io/gengo/v2/codetags"
)

// maxNesting bounds how many markers may wrap one another.
const maxNesting = 16

// parseKubernetes parses name(args)=value; the value may be another marker.
func parseKubernetes(m *Marker, text string) error {
	if rest := text[len(m.Name):]; rest != "" && (rest[0] == ' ' || rest[0] == '\t') {
		if rest = strings.TrimSpace(rest); rest[0] == '=' || rest[0] == '(' {
			return errors.New("there must be no blank behind the name")
		}
		return nil // words behind the marker are a remark
	}
	tag, err := codetags.Parse(text, codetags.RawValues(true))
	if err != nil {
		return err
	}
	for _, a := range tag.Args {
		m.Args = append(m.Args, Arg{Key: a.Name, Value: a.Value})
	}
	m.Value, m.HasValue = strings.TrimSpace(tag.Value), tag.ValueType != codetags.ValueTypeNone
	if m.Definition.Kind != Tag || !m.HasValue {
		m.Value = unquote(trimRemark(m.Definition, m.Value))
		return nil
	}
	inner, ok := strings.CutPrefix(m.Value, "+")
	if !ok {
		return errors.New("expected another marker behind the equals sign, such as =+k8s:required")
	}
	if strings.Count(inner, "=+") > maxNesting {
		return errors.New("too many markers in one another")
	}
	pos := m.Pos
	pos.Column += len(m.Text) - len(inner)
	w, ok, err := Parse(inner, pos)
	if ok {
		m.Wrapped = &w
	} else if err == nil {
		err = errors.New("\"+" + nameOf(inner) + "\" is no marker that can stand in another")
	}
	return err
}

// trimRemark removes a trailing # remark from values that can't hold one.
func trimRemark(d *Definition, value string) string {
	switch d.Kind {
	case Flag, Bool, Word, Int, Number:
		value, _, _ = strings.Cut(value, "#")
		value, _, _ = strings.Cut(value, " //")
	}
	return strings.TrimSpace(value)
}

// unquote removes the quotes of a value that is one quoted Go string, and leaves everything else alone. JSON keeps
// its quotes: the kinds that are JSON are never passed here with a different meaning.
func unquote(value string) string {
	if len(value) >= 2 && value[0] == '`' && value[len(value)-1] == '`' {
		return value[1 : len(value)-1]
	}
	return value
}
