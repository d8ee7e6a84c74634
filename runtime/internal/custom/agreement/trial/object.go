package trial

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// generator makes values of a schema, right and wrong ones.
type generator struct {
	*rand.Rand
	// strings are values of strings without an enumeration.
	strings []string
	// right makes fewer wrong values: those that are demanded are there, and so are objects that demand some; few are
	// zero.
	right bool
	// thin makes objects of few members: objects of a large schema, of which each member may be wrong, are hardly ever
	// right otherwise. usual makes texts in the form in which Go writes them.
	thin, usual bool
	// samples are right objects.
	samples []map[string]any
}

// body returns the fields of an object beside its metadata: a random one, or a sample with few changes.
func (g *generator) body(s *apiextensionsv1.JSONSchemaProps) map[string]any {
	var body map[string]any
	if len(g.samples) > 0 && g.IntN(4) > 0 {
		body = runtime.DeepCopyJSON(g.samples[g.IntN(len(g.samples))])
		for range 1 + g.IntN(2) {
			g.change(body, s)
		}
	} else {
		body = g.object(s)
	}
	maps.DeleteFunc(body, func(name string, _ any) bool { return slices.Contains(attributes, name) })
	return body
}

// attributes are members of an object that a write sets.
var attributes = []string{"apiVersion", "kind", "metadata"}

// object returns an object that lacks some of the members of a schema.
func (g *generator) object(s *apiextensionsv1.JSONSchemaProps) map[string]any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		member := s.Properties[name]
		likely := 20
		switch {
		case slices.Contains(s.Required, name), g.right && !g.thin && len(member.Required) > 0:
			likely = 39
		case g.thin:
			likely = min(likely, 1+120/len(s.Properties))
		}
		if n := g.IntN(40); n < likely || likely == 39 && g.right {
			out[name] = g.member(&member)
		}
	}
	return out
}

// member returns a value of a member of an object: of a kind in Kubernetes' own style, only these are null, as null in
// lists and maps is a zero value of a Go type.
func (g *generator) member(s *apiextensionsv1.JSONSchemaProps) any {
	if g.usual && !g.right && g.IntN(40) == 0 {
		return nil
	}
	return g.value(s)
}

// value returns a value of a schema: often its zero value, and sometimes null.
func (g *generator) value(s *apiextensionsv1.JSONSchemaProps) any {
	switch n := g.IntN(40); {
	case g.right:
	case n == 0 && !g.usual:
		return nil
	case n < 5 && g.thin:
		return quantities(zero(s), s)
	case n < 5:
		return zero(s)
	}
	switch {
	case len(s.Enum) > 0:
		var value any
		if err := json.Unmarshal(s.Enum[g.IntN(len(s.Enum))].Raw, &value); err != nil {
			panic(err) // it was decoded from YAML
		}
		if number, ok := value.(float64); ok && s.Type == "integer" {
			return int64(number) // CBOR has both, and Go can't read the other one
		}
		return value
	case s.XIntOrString && g.usual:
		return g.pick("5", "1Gi")
	case s.XIntOrString && g.thin:
		return g.pick("5", "1Gi", "1000m")
	case s.XIntOrString:
		return g.pick("5", "50%", "", 0, 7)
	case s.Type == "string" && s.Format == "date-time" && g.usual:
		return "2026-01-02T03:04:05Z"
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
		least := 0
		if g.right && s.MinItems != nil {
			least = int(*s.MinItems)
		}
		for range least + g.IntN(4) {
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

// change changes one value somewhere in an object: another takes its place, or none.
func (g *generator) change(object map[string]any, s *apiextensionsv1.JSONSchemaProps) {
	names := slices.Sorted(maps.Keys(s.Properties))
	present := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return object[name] == nil })
	if len(present) > 0 && g.IntN(6) > 0 {
		name := present[g.IntN(len(present))]
		if member := s.Properties[name]; g.below(object[name], &member) {
			return
		}
		names = present
	}
	if len(names) == 0 {
		return
	}
	name := names[g.IntN(len(names))]
	if member := s.Properties[name]; g.IntN(4) > 0 {
		object[name] = g.member(&member)
	} else {
		delete(object, name)
	}
}

// below changes a value in an object or in an element of a list. It reports whether there is one.
func (g *generator) below(v any, s *apiextensionsv1.JSONSchemaProps) bool {
	switch v := v.(type) {
	case map[string]any:
		if len(s.Properties) > 0 {
			g.change(v, s)
			return true
		}
	case []any:
		if len(v) == 0 || s.Items == nil || s.Items.Schema == nil {
			return false
		}
		i := g.IntN(len(v))
		if !g.below(v[i], s.Items.Schema) {
			v[i] = g.value(s.Items.Schema)
		}
		return true
	}
	return false
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
