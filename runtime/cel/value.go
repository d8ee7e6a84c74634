package cel

import (
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// value converts a value of decoded JSON for expressions: maps and slices of any, strings, bools, int64 and float64. A
// value that doesn't fit the schema is an error when an expression uses it. Maps and lists share memory with v.
func value(v any, s *Schema) ref.Val {
	switch {
	case v == nil && s.Nullable:
		return types.NullValue
	case v == nil:
		return types.NewErr("invalid data, got null for schema with nullable=false")
	case s.IntOrString:
		return intOrString(v)
	}
	switch s.Type {
	case "object":
		m, ok := v.(map[string]any)
		if !ok {
			return types.NewErr("invalid data, expected a map for the provided schema with type=object")
		}
		if s.EmbeddedResource {
			s = s.asResource()
		}
		return &mapping{raw: m, schema: s}
	case "array":
		return listOf(v, s)
	case "string":
		return stringOf(v, s.Format)
	case "number":
		switch v := v.(type) {
		case int64: // people write 1 rather than 1.0
			return types.Double(v)
		case float64:
			return types.Double(v)
		}
		return types.NewErr("invalid data, expected float, got %T", v)
	case "integer":
		if n, ok := v.(int64); ok {
			return types.Int(n)
		}
		return types.NewErr("invalid data, expected int, got %T", v)
	case "boolean":
		if b, ok := v.(bool); ok {
			return types.Bool(b)
		}
		return types.NewErr("invalid data, expected bool, got %T", v)
	}
	if s.PreserveUnknownFields {
		return unknown{v}
	}
	return types.NewErr("invalid type, expected object, array, number, integer, boolean or string, or no type with "+
		"x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got %s", s.Type)
}

func intOrString(v any) ref.Val {
	switch v := v.(type) {
	case string:
		return types.String(v)
	case int64:
		return types.Int(v)
	}
	return types.NewErr("invalid data, expected XIntOrString value to be either a string or integer")
}

func stringOf(v any, format string) ref.Val {
	s, ok := v.(string)
	if !ok {
		return types.NewErr("invalid data, expected string, got %T", v)
	}
	switch format {
	case "duration":
		d, err := strfmt.ParseDuration(s)
		if err != nil {
			return types.NewErr("Invalid duration %s: %v", s, err)
		}
		return types.Duration{Duration: d}
	case "date":
		t, err := time.Parse(strfmt.RFC3339FullDate, s)
		if err != nil {
			return types.NewErr("Invalid date formatted string %s: %v", s, err)
		}
		return types.Timestamp{Time: t}
	case "date-time":
		t, err := strfmt.ParseDateTime(s)
		if err != nil {
			return types.NewErr("Invalid date-time formatted string %s: %v", s, err)
		}
		return types.Timestamp{Time: time.Time(t)}
	case "byte":
		var b strfmt.Base64
		if err := b.UnmarshalText([]byte(s)); err != nil {
			return types.NewErr("Invalid byte formatted string %s: %v", s, err)
		}
		return types.Bytes(b)
	}
	return types.String(s)
}
