package trial

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// generator makes values of a schema, right and wrong ones.
type generator struct {
	*rand.Rand
	// strings are values of strings without an enumeration.
	strings []string
	// right makes fewer wrong values: those that are demanded are there, and so are objects that demand some; few are
	// zero.
	right bool
}

// body returns the fields of an object beside its metadata.
func (g *generator) body(s *apiextensionsv1.JSONSchemaProps) map[string]any {
	body := g.object(s)
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		delete(body, name)
	}
	return body
}

// object returns an object that lacks some of the members of a schema.
func (g *generator) object(s *apiextensionsv1.JSONSchemaProps) map[string]any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		member := s.Properties[name]
		likely := 20
		if slices.Contains(s.Required, name) || g.right && len(member.Required) > 0 {
			likely = 39
		}
		if n := g.IntN(40); n < likely || likely == 39 && g.right {
			out[name] = g.value(&member)
		}
	}
	return out
}

// value returns a value of a schema: often its zero value, and sometimes null.
func (g *generator) value(s *apiextensionsv1.JSONSchemaProps) any {
	switch n := g.IntN(40); {
	case g.right:
	case n == 0:
		return nil
	case n < 5:
		return zero(s)
	}
	switch {
	case len(s.Enum) > 0:
		var value any
		if err := json.Unmarshal(s.Enum[g.IntN(len(s.Enum))].Raw, &value); err != nil {
			panic(err) // it was decoded from YAML
		}
		return value
	case s.XIntOrString:
		return g.pick("5", "50%", "", 0, 7)
	case s.Type == "string" && s.Format == "date-time":
		return g.pick("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000000Z")
	case s.Type == "string":
		return g.text(s)
	case s.Type == "integer" && g.right && s.Minimum != nil:
		return int(*s.Minimum) + g.IntN(10)
	case s.Type == "integer":
		return g.IntN(12) - 1
	case s.Type == "number":
		return g.pick(-1, 0, 1, 2.5, 1e3)
	case s.Type == "boolean":
		return g.IntN(2) == 0
	case s.Type == "array":
		list := []any{}
		for range g.IntN(4) {
			list = append(list, g.value(s.Items.Schema))
		}
		return list
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		entries := map[string]any{}
		for _, key := range []string{"key-a", "key-b"}[:g.IntN(3)] {
			entries[key] = g.value(s.AdditionalProperties.Schema)
		}
		return entries
	}
	return g.object(s)
}

// text returns one of the texts, and of right ones one that fits.
func (g *generator) text(s *apiextensionsv1.JSONSchemaProps) string {
	texts := g.strings
	if g.right {
		var fitting []string
		for _, text := range texts {
			matches := true
			if s.Pattern != "" {
				matches, _ = regexp.MatchString(s.Pattern, text) // a schema with a wrong pattern isn't served
			}
			if matches && (s.MinLength == nil || int64(len(text)) >= *s.MinLength) {
				fitting = append(fitting, text)
			}
		}
		if len(fitting) > 0 {
			texts = fitting
		}
	}
	return texts[g.IntN(len(texts))]
}

func (g *generator) pick(values ...any) any { return values[g.IntN(len(values))] }

// zero returns what encoding/json writes of the zero value of the simplest Go type of a schema.
func zero(s *apiextensionsv1.JSONSchemaProps) any {
	switch {
	case s.XIntOrString:
		return 0
	case s.Type == "string" && s.Format == "date-time":
		return nil
	case s.Type == "string":
		return ""
	case s.Type == "integer", s.Type == "number":
		return 0
	case s.Type == "boolean":
		return false
	case s.Type == "array":
		return []any{}
	}
	return map[string]any{}
}
