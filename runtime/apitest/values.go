package apitest

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// schemas are those of a version's OpenAPI document, by their names.
type schemas struct{ byName map[string]*schema }

// schema is one of OpenAPI v3, as far as values are made from it.
type schema struct {
	Ref                   string    `json:"$ref"`
	AllOf, OneOf, AnyOf   []*schema `json:",omitempty"`
	Type, Format, Pattern string
	Enum                  []any
	Minimum, Maximum      *float64
	ExclusiveMinimum      bool
	MultipleOf            float64
	MinLength, MinItems   int
	Properties            map[string]*schema
	AdditionalProperties  *schema
	Items                 *schema
	Required              []string
	Kinds                 []struct{ Group, Version, Kind string } `json:"x-kubernetes-group-version-kind"`
	IntOrString           bool                                    `json:"x-kubernetes-int-or-string"`
}

func (s *schemas) read(k *exercised) error {
	if s.byName != nil {
		return nil
	}
	path := strings.TrimSuffix(strings.TrimSuffix(k.path(), "/"+k.plural), "/namespaces/default")
	answer, failure := k.server.send(k.TB, request{path: "/openapi/v3" + path})
	if failure != "" {
		return errors.New(failure)
	}
	data, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	var document struct {
		Components struct{ Schemas map[string]*schema }
	}
	if err := json.Unmarshal(data, &document); err != nil {
		return err
	}
	s.byName = document.Components.Schemas
	return nil
}

func (s *schemas) kind(group, version, kind string) *schema {
	for _, each := range s.byName {
		for _, k := range each.Kinds {
			if k.Group == group && k.Version == version && k.Kind == kind {
				return each
			}
		}
	}
	return &schema{}
}

// of returns a schema without references, and the name of the last one.
func (s *schemas) of(at *schema) (*schema, string) {
	name := ""
	for {
		switch {
		case at.Ref != "":
			name = at.Ref[strings.LastIndexByte(at.Ref, '/')+1:]
			at = s.byName[name]
		case len(at.AllOf) > 0 && at.Type == "":
			at = at.AllOf[0]
		default:
			return at, name
		}
		if at == nil {
			return &schema{}, name
		}
	}
}

// objectMeta is the type of the metadata of objects within objects, such as templates, which selectors must match.
const objectMeta = "meta.v1.ObjectMeta"

// known are the values of types of Kubernetes whose text has a form that the schema doesn't tell.
var known = map[string]any{
	"api.resource.Quantity": "2", "meta.v1.Duration": "2s", "meta.v1.Time": "2024-01-02T03:04:05Z",
	"meta.v1.MicroTime": "2024-01-02T03:04:05.000006Z", "util.intstr.IntOrString": 2, "meta.v1.FieldsV1": object{},
	objectMeta: object{"labels": object{"a": "b"}}, "meta.v1.LabelSelector": object{"matchLabels": object{"a": "b"}},
	"pkg.runtime.RawExtension": object{"a": "b"},
}

// formats are values of formats of text.
var formats = map[string]string{
	"date-time": "2024-01-02T03:04:05Z", "date": "2024-01-02", "byte": "YQ==", "duration": "2s", "ipv4": "10.0.0.1",
	"ipv6": "fe80::1", "cidr": "10.0.0.0/8", "uuid": "6ba7b810-9dad-41d1-80b4-00c04fd430c8",
	"uri": "https://example.com", "email": "a@example.com", "hostname": "example.com", "int-or-string": "2",
}

// words are texts of types of Go whose schema tells no form, such as netip.Addr, for where letters are refused.
var words = []string{
	"10.0.0.1", "10.0.0.0/8", "10.0.0.1:80", "2", "2s", "2024-01-02T03:04:05Z", "true", "https://example.com",
	"6ba7b810-9dad-41d1-80b4-00c04fd430c8", "02:00:5e:10:00:01", "YQ==",
}

// maker makes values of schemas.
type maker struct {
	*schemas
	// full makes all fields of objects; else there are only required ones. some makes one element of lists and maps
	// that may be empty; full does, too.
	full, some bool
	// word is the value of texts of no known form; if it is empty, they are letters.
	word string
	// leaf is what add sets, unless it is nil.
	leaf any
	// within are the names of the schemas that the value is in: a type that holds itself ends there.
	within []string
}

// value makes a value; different n make different texts and numbers.
func (m maker) value(at *schema, n int) any {
	s, name := m.of(at)
	for suffix, value := range known {
		if strings.HasSuffix(name, "."+suffix) {
			return value
		}
	}
	if name != "" {
		m.within = append(slices.Clip(m.within), name)
	}
	switch {
	case len(s.Enum) > 0:
		return s.Enum[min(n+slices.IndexFunc(s.Enum, func(v any) bool { return v != "" }), len(s.Enum)-1)]
	case s.IntOrString:
		return 2
	case s.Type == "string":
		if m.word != "" && s.Format == "" && s.Pattern == "" {
			return m.word
		}
		return s.text(n)
	case s.Type == "integer", s.Type == "number":
		return s.number(n)
	case s.Type == "boolean":
		return true
	case s.Type == "array":
		list := []any{}
		for i := range max(s.MinItems, 1) {
			if s.MinItems > 0 || m.full || m.some {
				list = append(list, m.value(s.Items, i))
			}
		}
		return list
	case s.AdditionalProperties != nil && s.Properties == nil && (m.full || m.some):
		return object{"1": m.value(s.AdditionalProperties, 0)} // a name that is a number fits maps of all keys
	case s.Type == "object" || s.Properties != nil:
		return m.object(s, n)
	}
	return object{"a": "b"}
}

func (m maker) object(s *schema, n int) object {
	out := object{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		_, called := m.of(property)
		template := len(m.within) > 0 && strings.HasSuffix(called, "."+objectMeta)
		optional := m.full && !m.repeats(property) && !m.isKind(s, name)
		if template || slices.Contains(s.Required, name) || optional {
			out[name] = m.value(property, n)
		}
	}
	return out
}

// isKind reports whether a property says of which kind an object within another one is, such as a template of volume
// claims: JSON keeps that, and protobuf has no place for it.
func (m maker) isKind(s *schema, name string) bool {
	return len(m.within) > 0 && s.Properties["metadata"] != nil && (name == "apiVersion" || name == "kind")
}

// repeats reports whether a schema is one of those that a value is in.
func (m maker) repeats(at *schema) bool {
	s, name := m.of(at)
	if slices.Contains(m.within, name) {
		return true
	}
	return s.Items != nil && m.repeats(s.Items) || s.AdditionalProperties != nil && m.repeats(s.AdditionalProperties)
}

func (s *schema) number(n int) any {
	value := float64(2 + n)
	if s.Minimum != nil && value < *s.Minimum {
		value = *s.Minimum
	}
	if s.ExclusiveMinimum && s.Minimum != nil && value == *s.Minimum {
		value++
	}
	if s.Maximum != nil && value > *s.Maximum {
		value = *s.Maximum
	}
	if s.MultipleOf > 0 {
		value = s.MultipleOf * max(1, float64(int(value/s.MultipleOf)))
	}
	return value
}

func (s *schema) text(n int) string {
	if value, ok := formats[s.Format]; ok {
		return value
	}
	if s.Pattern != "" {
		return matching(s.Pattern, s.MinLength)
	}
	value := string(rune('a' + n%26))
	return value + strings.Repeat("a", max(0, s.MinLength-1))
}
