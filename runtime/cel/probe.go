package cel

import (
	"context"
	"slices"
	"strings"
)

// probe runs a rule on the smallest value that the schema allows, which has only the required fields and those with a
// default. It reports a rule that fails because a field is missing: such a rule rejects objects because it doesn't
// check whether the field is there.
func (r *compiled) probe(s *Schema, resource bool) (missing string) {
	v, ok := minimal(s, 0)
	if !ok || r.program == nil || r.OptionalOldSelf {
		return ""
	}
	if m, ok := v.(map[string]any); ok && resource {
		m["apiVersion"], m["kind"], m["metadata"] = "v1", "Kind", map[string]any{"name": "name"}
		s = s.asResource()
	}
	_, _, err := r.program.ContextEval(context.Background(), variables{self: value(v, s), old: value(v, s)})
	if err != nil {
		_, missing, _ = strings.Cut(err.Error(), "no such key: ")
	}
	return missing
}

// minimal returns the smallest value of a schema, or false if the schema doesn't describe the value.
func minimal(s *Schema, depth int) (any, bool) {
	if s == nil || depth > 20 {
		return nil, false
	}
	switch {
	case s.IntOrString:
		return int64(0), true
	case len(s.Enum) > 0:
		return s.Enum[0], true
	}
	switch s.Type {
	case "object":
		out := map[string]any{}
		for name, p := range s.Properties {
			if !p.Defaulted && !slices.Contains(s.Required, name) {
				continue
			}
			if v, ok := minimal(p, depth+1); ok {
				out[name] = v
			}
		}
		return out, true
	case "array":
		return []any{}, true
	case "string":
		zero := map[string]string{"date-time": "1970-01-01T00:00:00Z", "date": "1970-01-01", "duration": "0s"}
		return zero[s.Format], true
	case "integer":
		return int64(0), true
	case "number":
		return float64(0), true
	case "boolean":
		return false, true
	}
	return nil, false
}
