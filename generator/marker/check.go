package marker

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"apigen.dev/generator/spelling"
)

// check holds the value against the definition.
func (m Marker) check() error {
	d := m.Definition
	bad := func(want string) error {
		if !m.HasValue {
			return fmt.Errorf("marker \"+%s\" needs a value: %s", m.Name, want)
		}
		return fmt.Errorf("marker \"+%s\": %q is not %s", m.Name, m.Value, want)
	}
	if len(m.Args) > 0 && d.Keys != nil && d.Kind != Arguments {
		if err := m.checkKeys(); err != nil {
			return err
		}
	}
	switch d.Kind {
	case Flag, Bool:
		if d.Kind == Bool && !m.HasValue || m.Value != "" && m.Value != "true" && m.Value != "false" {
			return bad("true or false")
		}
	case Text, List:
		if m.Value == "" {
			return bad("text")
		}
	case Word:
		return m.checkWords(bad)
	case Int:
		if m.Int() == nil {
			return bad("a whole number")
		}
	case Number:
		if m.Float() == nil {
			return bad("a number")
		}
	case JSON:
		if !m.HasValue {
			return bad("a JSON literal")
		}
		if strings.HasPrefix(m.Name, "kubebuilder:") && strings.TrimSpace(m.Value) == "" {
			return fmt.Errorf("marker \"+%s\" needs a value: a JSON literal", m.Name)
		}
	case JSONOrConstant:
		if !m.HasValue {
			return bad("a JSON literal")
		}
		if !validDefault(m.Value) {
			return bad(`a JSON literal or ref(Constant); strings need double quotes: +default="text"`)
		}
	case Tag:
		if m.Wrapped == nil && d.Ignored == "" && strings.HasPrefix(m.Name, "k8s:") {
			return bad("another marker, such as =+k8s:required")
		}
	case Arguments:
		return m.checkKeys()
	}
	return nil
}

var refPattern = regexp.MustCompile(`^ref\([A-Za-z0-9_./-]+\)$`)

func validDefault(value string) bool {
	return json.Valid([]byte(value)) || refPattern.MatchString(value)
}

func (m Marker) checkWords(bad func(string) error) error {
	want := "one of " + strings.Join(m.Definition.Words, ", ")
	if len(m.Definition.Words) == 2 {
		want = strings.Join(m.Definition.Words, " or ")
	}
	if m.Value == "" {
		return bad(want)
	}
	for _, w := range strings.Split(m.Value, ",") {
		if !slices.Contains(m.Definition.Words, strings.TrimSpace(w)) {
			return bad(want)
		}
	}
	return nil
}

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
