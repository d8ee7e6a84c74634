package marker

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"apigen.dev/generator/internal/spelling"
)

// check holds the value against the definition.
func (m Marker) check() error {
	if err := m.checkKeys(); err != nil {
		return err
	}
	switch want := m.missing(); {
	case want == "":
		return nil
	case !m.HasValue || m.Definition.Kind == JSON:
		return fmt.Errorf("marker \"+%s\" needs a value: %s", m.Name, want)
	default:
		return fmt.Errorf("marker \"+%s\": %q is not %s", m.Name, m.Value, want)
	}
}

// missing returns what the value must be and isn't; empty if it is.
func (m Marker) missing() string {
	d := m.Definition
	bad, want := false, ""
	switch d.Kind {
	case Flag, Bool:
		bad, want = !slices.Contains([]string{"", "true", "false"}, m.Value), "true or false"
		bad = bad || d.Kind == Bool && !m.HasValue
	case Text, List:
		bad, want = m.Value == "", "text"
	case Word:
		want = "one of " + strings.Join(d.Words, ", ")
		if len(d.Words) == 2 {
			want = strings.Join(d.Words, " or ")
		}
		for w := range strings.SplitSeq(m.Value, ",") {
			bad = bad || !slices.Contains(d.Words, strings.TrimSpace(w))
		}
	case Int:
		bad, want = m.number() == nil, "a whole number"
	case Number:
		bad, want = m.number() == nil, "a number"
	case JSON:
		blank := strings.HasPrefix(m.Name, "kubebuilder:") && strings.TrimSpace(m.Value) == ""
		bad, want = !m.HasValue || blank, "a JSON literal"
	case JSONOrConstant:
		if !m.HasValue {
			return "a JSON literal"
		}
		bad = !json.Valid([]byte(m.Value)) && !refPattern.MatchString(m.Value)
		want = `a JSON literal or ref(Constant); strings need double quotes: +default="text"`
	case Tag:
		bad = m.Wrapped == nil && d.Ignored == "" && strings.HasPrefix(m.Name, "k8s:")
		want = "another marker, such as =+k8s:required"
	}
	if !bad {
		return ""
	}
	return want
}

var refPattern = regexp.MustCompile(`^ref\([A-Za-z0-9_./-]+\)$`)

func (m Marker) checkKeys() error {
	if m.Definition.Keys == nil {
		return nil
	}
	for _, a := range m.Args {
		if slices.Contains(m.Definition.Keys, a.Key) {
			if a.Bare && a.Key != m.Definition.Bare {
				return fmt.Errorf("marker \"+%s\": argument %q needs a value: %s=...", m.Name, a.Key, a.Key)
			}
			continue
		}
		hint := "known are " + strings.Join(m.Definition.Keys, ", ")
		if s := spelling.Nearest(a.Key, m.Definition.Keys); s != "" {
			hint = fmt.Sprintf("did you mean %q?", s)
		}
		return fmt.Errorf("marker \"+%s\": unknown argument %q: %s", m.Name, a.Key, hint)
	}
	return nil
}

// CheckPlace tells what is wrong with a marker that stands at a place; nil if nothing is. Ignored markers may stand at
// any place, which only their own tools know.
func (m Marker) CheckPlace(p Place) error {
	if m.Definition == nil || m.Definition.Ignored != "" || m.Definition.Places&p != 0 {
		return nil
	}
	return fmt.Errorf("marker \"+%s\" has no meaning on a %s: it belongs on a %s", m.Name, p, m.Definition.Places)
}

// String names the places: package, type or field.
func (p Place) String() string {
	var names []string
	for i, n := range []string{"package", "type", "field", "function", "constant"} {
		if p&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}
