package schema

import (
	"cmp"
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

// Keywords returns the keywords of OpenAPI and Kubernetes' extensions for the markers of one layer, with values that
// encoding/json writes. It leaves out CEL rules and the keywords that differ between dialects.
func Keywords(s *model.Schema) map[string]any {
	out := map[string]any{}
	for keyword, value := range map[string]string{
		"format": s.Format, "pattern": s.Pattern, "title": s.Title,
		"x-kubernetes-list-type": s.ListType, "x-kubernetes-map-type": cmp.Or(s.StructType, s.MapType),
	} {
		if value != "" {
			out[keyword] = value
		}
	}
	for check, value := range s.Limits {
		out[string(check)] = value
	}
	for keyword, value := range map[string]bool{
		"exclusiveMinimum": s.ExclusiveMinimum, "exclusiveMaximum": s.ExclusiveMaximum, "nullable": s.Nullable,
		"x-kubernetes-preserve-unknown-fields": s.PreserveUnknownFields,
		"x-kubernetes-embedded-resource":       s.EmbeddedResource,
		"x-kubernetes-int-or-string":           s.IntOrString,
	} {
		if value {
			out[keyword] = true
		}
	}
	var enum []any
	for _, text := range s.Enum {
		enum = append(enum, Literal(text))
	}
	if enum != nil {
		out["enum"] = enum
	}
	if s.Example != "" {
		out["example"] = Literal(s.Example)
	}
	if len(s.ListMapKeys) > 0 {
		out["x-kubernetes-list-map-keys"] = slices.Clone(s.ListMapKeys)
	}
	return out
}

// Validations returns the CEL rules of one layer in the form of x-kubernetes-validations.
func Validations(s *model.Schema) []any {
	var out []any
	for _, r := range s.CEL {
		rule := map[string]any{"rule": r.Rule}
		for keyword, value := range map[string]string{
			"message": r.Message, "messageExpression": r.MessageExpression, "reason": r.Reason,
			"fieldPath": r.FieldPath,
		} {
			if value != "" {
				rule[keyword] = value
			}
		}
		if r.OptionalOldSelf {
			rule["optionalOldSelf"] = true
		}
		out = append(out, rule)
	}
	return out
}

// OneOfMessage returns controller-gen's message of a rule that bounds how many of some fields are set.
func OneOfMessage(r *model.Rule) string {
	fields := "[" + strings.Join(r.Values, " ") + "]"
	switch {
	case r.Most < 0:
		return "at least one of the fields in " + fields + " must be set"
	case r.Least == 0:
		return "at most one of the fields in " + fields + " may be set"
	}
	return "exactly one of the fields in " + fields + " must be set"
}

// Literal returns the value of a JSON text, with numbers as they are written. It returns a text that is not JSON as a
// string.
func Literal(text string) any {
	value, err := model.JSONValue(text)
	if err != nil {
		return text
	}
	return value
}
