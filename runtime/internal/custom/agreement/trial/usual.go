package trial

import (
	"fmt"
	"maps"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// usual returns a value of JSON as a Go value writes it: without the zero values that the other one lacks, and with the
// other's form of a quantity, a duration or a time. It changes v, and removes null from other that v lacks: a Go value
// without omitempty writes it.
func usual(v, other any) any {
	switch v := v.(type) {
	case map[string]any:
		other, _ := other.(map[string]any)
		maps.DeleteFunc(v, func(name string, value any) bool { return isZero(value) && !has(other, name) })
		maps.DeleteFunc(other, func(name string, value any) bool { return value == nil && !has(v, name) })
		for name, value := range v {
			if there, ok := other[name]; ok {
				v[name] = usual(value, there)
			}
		}
		return v
	case []any:
		if other, ok := other.([]any); ok && len(other) == len(v) {
			for i := range v {
				v[i] = usual(v[i], other[i])
			}
		}
		return v
	}
	if text, ok := other.(string); ok && sameValue(fmt.Sprint(v), text) {
		return text
	}
	return v
}

// quantities returns a value of a schema, whose quantities it changes to texts: a Go type takes no number in CBOR.
func quantities(v any, s *apiextensionsv1.JSONSchemaProps) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if member, ok := s.Properties[name]; ok {
				v[name] = quantities(value, &member)
			} else if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
				v[name] = quantities(value, s.AdditionalProperties.Schema)
			}
		}
	case []any:
		for i := range v {
			if s.Items != nil && s.Items.Schema != nil {
				v[i] = quantities(v[i], s.Items.Schema)
			}
		}
	case int, int64, float64:
		if s.XIntOrString && s.Pattern != "" {
			return fmt.Sprint(v)
		}
	}
	return v
}

func has[V any](object map[string]V, name string) bool {
	_, ok := object[name]
	return ok
}

// isZero reports whether a value of JSON is what a Go value that is zero or empty is written as.
func isZero(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, value := range v {
			if !isZero(value) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return v == nil || v == "" || v == false || v == 0.0
}

// sameValue reports whether two texts are forms of one quantity, duration or time.
func sameValue(a, b string) bool {
	if a, err := resource.ParseQuantity(a); err == nil {
		if b, err := resource.ParseQuantity(b); err == nil {
			return a.Cmp(b) == 0
		}
	}
	if a, err := time.ParseDuration(a); err == nil {
		b, err := time.ParseDuration(b)
		return err == nil && a == b
	}
	if a, err := time.Parse(time.RFC3339, a); err == nil {
		b, err := time.Parse(time.RFC3339, b)
		return err == nil && a.Equal(b)
	}
	return false
}
