package policy

import (
	"encoding/json"
	"fmt"
	"strings"

	"apigen.dev/runtime/cel"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// schemas reads the schemas of kinds from OpenAPI v3 documents, each of which it parses once.
type schemas struct {
	document  func(schema.GroupVersion) ([]byte, error)
	documents map[schema.GroupVersion]*document
}

// of returns the schema of a kind. It fails for a kind that no document describes, or whose schema has no end.
func (s *schemas) of(kind schema.GroupVersionKind) (*cel.Schema, error) {
	d := s.documents[kind.GroupVersion()]
	if d == nil {
		data, err := s.document(kind.GroupVersion())
		if err != nil {
			return nil, err
		}
		d = &document{}
		if err := json.Unmarshal(data, d); err != nil {
			return nil, fmt.Errorf("the OpenAPI document of %s: %w", kind.GroupVersion(), err)
		}
		s.documents[kind.GroupVersion()] = d
	}
	for name, described := range d.Components.Schemas {
		for _, of := range described.Kinds {
			if of == (groupVersionKind{kind.Group, kind.Version, kind.Kind}) {
				return (&reader{d.Components.Schemas, map[string]*cel.Schema{}}).component(name)
			}
		}
	}
	return nil, fmt.Errorf("no OpenAPI document describes %s", kind)
}

// document is the part of an OpenAPI v3 document that has schemas.
type document struct {
	Components struct {
		Schemas map[string]*node `json:"schemas"`
	} `json:"components"`
}

type groupVersionKind struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

// node is a schema of a document.
type node struct {
	Ref                  string             `json:"$ref"`
	AllOf                []*node            `json:"allOf"`
	Type                 string             `json:"type"`
	Format               string             `json:"format"`
	Properties           map[string]*node   `json:"properties"`
	AdditionalProperties *additional        `json:"additionalProperties"`
	Items                *node              `json:"items"`
	Required             []string           `json:"required"`
	IntOrString          bool               `json:"x-kubernetes-int-or-string"`
	EmbeddedResource     bool               `json:"x-kubernetes-embedded-resource"`
	Kinds                []groupVersionKind `json:"x-kubernetes-group-version-kind"`
}

// additional is the schema of a map's values, or nothing where the document has true or false.
type additional struct{ *node }

// UnmarshalJSON implements json.Unmarshaler.
func (a *additional) UnmarshalJSON(data []byte) error {
	if string(data) == "true" || string(data) == "false" {
		return nil
	}
	a.node = &node{}
	return json.Unmarshal(data, a.node)
}

// reader makes schemas of the nodes of a document.
type reader struct {
	components map[string]*node
	// read has the components that are read; nil for one that is being read.
	read map[string]*cel.Schema
}

func (r *reader) component(name string) (*cel.Schema, error) {
	if known, ok := r.read[name]; ok {
		if known == nil {
			return nil, fmt.Errorf("%s is a part of itself", name)
		}
		return known, nil
	}
	r.read[name] = nil
	s, err := r.schema(r.components[name])
	r.read[name] = s
	return s, err
}

func (r *reader) schema(n *node) (*cel.Schema, error) {
	switch {
	case n == nil:
		return &cel.Schema{}, nil
	case n.Ref != "":
		return r.component(strings.TrimPrefix(n.Ref, "#/components/schemas/"))
	case len(n.AllOf) == 1: // a reference with a description or a default beside it
		return r.schema(n.AllOf[0])
	}
	s := &cel.Schema{
		Type: n.Type, Format: n.Format, Required: n.Required, EmbeddedResource: n.EmbeddedResource,
		IntOrString: n.IntOrString || n.Format == "int-or-string",
	}
	for name, property := range n.Properties {
		field, err := r.schema(property)
		if err != nil {
			return nil, err
		}
		if s.Properties == nil {
			s.Properties = make(map[string]*cel.Schema, len(n.Properties))
		}
		s.Properties[name] = field
	}
	var err error
	if n.AdditionalProperties != nil && n.AdditionalProperties.node != nil {
		s.Values, err = r.schema(n.AdditionalProperties.node)
	}
	if err == nil && n.Items != nil {
		s.Items, err = r.schema(n.Items)
	}
	return s, err
}
