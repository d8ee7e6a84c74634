package celrules

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// generator makes objects that fit a schema, more or less: it uses texts that the rules compare with, leaves out
// fields, and repeats elements of lists.
type generator struct {
	*rand.Rand
	words []string
}

// newGenerator gathers the words of rules: what is quoted in them.
func newGenerator(seed uint64, s *apiextensionsv1.JSONSchemaProps) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1))}
	g.words = []string{"", "a", "b", "*", "example.com", "a.example.com", "10m", "1.5", "10.0.0.1", "/x", "Default"}
	g.gather(s)
	slices.Sort(g.words[11:])
	return g
}

func (g *generator) gather(s *apiextensionsv1.JSONSchemaProps) {
	for _, r := range s.XValidations {
		for i, word := range strings.FieldsFunc(r.Rule, func(c rune) bool { return c == '\'' || c == '"' }) {
			if i%2 == 1 && len(word) < 40 {
				g.words = append(g.words, word)
			}
		}
	}
	for _, p := range s.Properties {
		g.gather(&p)
	}
	if s.Items != nil && s.Items.Schema != nil {
		g.gather(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		g.gather(s.AdditionalProperties.Schema)
	}
}

func (g *generator) value(s *apiextensionsv1.JSONSchemaProps, depth int) any {
	if len(s.Enum) > 0 && g.IntN(8) > 0 {
		var v any
		if json.Unmarshal(s.Enum[g.IntN(len(s.Enum))].Raw, &v) == nil {
			return v
		}
	}
	if s.XIntOrString {
		if g.IntN(2) == 0 {
			return int64(g.IntN(5))
		}
		return g.words[g.IntN(len(g.words))]
	}
	switch s.Type {
	case "object":
		return g.object(s, depth)
	case "array":
		if s.Items == nil || s.Items.Schema == nil {
			return []any{}
		}
		out := []any{}
		for range g.IntN(4) {
			out = append(out, g.value(s.Items.Schema, depth+1))
		}
		return out
	case "integer":
		return int64(g.IntN(70) - 3)
	case "number":
		return float64(g.IntN(70)) / 4
	case "boolean":
		return g.IntN(2) == 0
	case "string":
		return g.text(s)
	}
	return map[string]any{"any": "thing"}
}

func (g *generator) text(s *apiextensionsv1.JSONSchemaProps) string {
	switch {
	case s.Format == "date-time":
		return fmt.Sprintf("2024-01-%02dT03:04:05Z", 1+g.IntN(28))
	case s.Format == "byte":
		return "aGVsbG8="
	case s.Format == "duration":
		return fmt.Sprintf("%ds", g.IntN(100))
	}
	return g.words[g.IntN(len(g.words))]
}

func (g *generator) object(s *apiextensionsv1.JSONSchemaProps, depth int) any {
	out := map[string]any{}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		for range g.IntN(4) {
			out[g.words[g.IntN(len(g.words))]] = g.value(s.AdditionalProperties.Schema, depth+1)
		}
		return out
	}
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p := s.Properties[name]
		if slices.Contains(s.Required, name) && g.IntN(20) > 0 || len(p.Properties) > 0 && depth < 2 && g.IntN(8) > 0 ||
			g.IntN(3) > 0 {
			out[name] = g.value(&p, depth+1)
		}
	}
	return out
}

// object is a whole one, with a name.
func (g *generator) whole(s *apiextensionsv1.JSONSchemaProps) map[string]any {
	out, _ := g.value(s, 0).(map[string]any)
	out["apiVersion"], out["kind"] = "example.com/v1", "Thing"
	out["metadata"] = map[string]any{"name": g.words[g.IntN(len(g.words))]}
	return out
}

// changed is an object with some of its parts replaced by those of another.
func (g *generator) changed(a, b any) any {
	if g.IntN(6) == 0 {
		return b
	}
	switch a := a.(type) {
	case map[string]any:
		b, _ := b.(map[string]any)
		out := map[string]any{}
		for _, k := range keys(a) {
			if v, ok := b[k]; ok {
				out[k] = g.changed(a[k], v)
			} else if g.IntN(10) > 0 {
				out[k] = a[k]
			}
		}
		return out
	case []any:
		out := slices.Clone(a)
		if len(out) > 1 && g.IntN(3) == 0 {
			g.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		}
		if b, ok := b.([]any); ok && len(b) > 0 && g.IntN(3) == 0 {
			out = append(out, b[0])
		}
		return out
	}
	return a
}

func keys(m map[string]any) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
