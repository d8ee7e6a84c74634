// Package structural is the structural schema of a custom resource, and what a server does with objects by it: prune
// unknown fields, set defaults, check embedded objects, lists and values, and run CEL rules. An object is decoded JSON:
// maps and lists of any, strings, bools, int64 and float64. Results and messages are those of apiextensions-apiserver.
//
// It may know package cel.
package structural

import (
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kjson "sigs.k8s.io/json"
)

// Schema says what a value consists of. It is immutable.
type Schema struct {
	Type string
	// Nullable allows null, IntOrString a number or a string. Preserve keeps fields that the schema doesn't name.
	// Embedded says that the value is an object with apiVersion, kind and metadata.
	Nullable, IntOrString, Preserve, Embedded bool

	Properties map[string]*Schema
	// Open says that there may be members that Properties doesn't name. Values is their schema, nil for any.
	Open   bool
	Values *Schema
	Items  *Schema

	// ListType is map, set, atomic or empty, and Keys are those of a map. MapType is atomic, granular or empty.
	ListType, MapType string
	Keys              []string

	// Default is the default value where HasDefault says that there is one.
	Default    any
	HasDefault bool

	// embeds reports whether there are embedded objects below.
	embeds bool
}

// New makes the schema of a version of a kind. It fails where the schema has a part that no structural schema has. Nil
// is a schema that keeps everything.
func New(props *apiextensionsv1.JSONSchemaProps) (*Schema, error) {
	if props == nil {
		return &Schema{Type: "object", Preserve: true, Embedded: true}, nil
	}
	s, err := newSchema(props)
	if err != nil {
		return nil, err
	}
	s.Embedded = true
	return s, nil
}

func newSchema(props *apiextensionsv1.JSONSchemaProps) (*Schema, error) {
	if part := unsupported(props); part != "" {
		return nil, fmt.Errorf("OpenAPIV3Schema '%s' is not supported", part)
	}
	s := &Schema{
		Type: props.Type, Nullable: props.Nullable, IntOrString: props.XIntOrString, Embedded: props.XEmbeddedResource,
		Preserve: isTrue(props.XPreserveUnknownFields), Keys: props.XListMapKeys,
		ListType: text(props.XListType), MapType: text(props.XMapType),
	}
	if props.Default != nil {
		if err := kjson.UnmarshalCaseSensitivePreserveInts(props.Default.Raw, &s.Default); err != nil {
			return nil, err
		}
		s.HasDefault = s.Default != nil
	}
	var err error
	if len(props.Properties) > 0 {
		s.Properties = make(map[string]*Schema, len(props.Properties))
	}
	for _, name := range slices.Sorted(maps.Keys(props.Properties)) {
		member := props.Properties[name]
		if s.Properties[name], err = newSchema(&member); err != nil {
			return nil, err
		}
		s.add(s.Properties[name])
	}
	if a := props.AdditionalProperties; a != nil {
		s.Open = a.Allows || a.Schema != nil
		if a.Schema != nil {
			if s.Values, err = newSchema(a.Schema); err != nil {
				return nil, err
			}
			s.add(s.Values)
		}
	}
	if props.Items != nil {
		if len(props.Items.JSONSchemas) > 0 {
			return nil, fmt.Errorf("OpenAPIV3Schema 'items' must be a schema, but is an array")
		}
		if s.Items, err = newSchema(props.Items.Schema); err != nil {
			return nil, err
		}
		s.add(s.Items)
	}
	return s, nil
}

func (s *Schema) add(below *Schema) {
	if below != nil {
		s.embeds = s.embeds || below.embeds || below.Embedded
	}
}

// unsupported returns the name of a part of JSON Schema that a structural schema doesn't have.
func unsupported(props *apiextensionsv1.JSONSchemaProps) string {
	switch {
	case props.ID != "":
		return "id"
	case props.Schema != "":
		return "schema"
	case text(props.Ref) != "":
		return "$ref"
	case len(props.PatternProperties) > 0:
		return "patternProperties"
	case len(props.Dependencies) > 0:
		return "dependencies"
	case props.AdditionalItems != nil:
		return "additionalItems"
	case len(props.Definitions) > 0:
		return "definitions"
	}
	return ""
}

func isTrue(b *bool) bool { return b != nil && *b }

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// member returns the schema of a member of an object, nil if the schema says nothing of it.
func (s *Schema) member(name string) *Schema {
	if s == nil {
		return nil
	}
	if member, ok := s.Properties[name]; ok {
		return member
	}
	return s.Values
}

func (s *Schema) item() *Schema {
	if s == nil {
		return nil
	}
	return s.Items
}
