package ownership

import (
	"fmt"
	"sync"

	"apigen.dev/runtime/api"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Schemas are the schemas of a server's API groups. The first write that needs a schema reads it from the OpenAPI v3
// documents, so a server that serves no writes never reads them. The zero value has none. Schemas are safe for
// concurrent use, once all groups were added.
type Schemas struct {
	versions map[schema.GroupVersion]func() (*types, error)
}

// NewSchemas returns the schemas of one group: see Add.
func NewSchemas(group string, documents map[string]api.Document) *Schemas {
	s := &Schemas{}
	s.Add(group, documents)
	return s
}

// Add adds the documents of a group, which are keyed by the name of their version.
func (s *Schemas) Add(group string, documents map[string]api.Document) {
	if s.versions == nil {
		s.versions = map[schema.GroupVersion]func() (*types, error){}
	}
	for version, document := range documents {
		s.versions[schema.GroupVersion{Group: group, Version: version}] = sync.OnceValues(func() (*types, error) {
			data, err := document.JSON()
			if err != nil {
				return nil, err
			}
			return parse(data)
		})
	}
}

// Of returns the type of a kind. A kind that no document describes has the type of kinds without a schema, in which
// lists are atomic.
func (s *Schemas) Of(kind schema.GroupVersionKind) (*Type, error) {
	return s.In(kind.GroupVersion(), kind)
}

// In is Of for a kind of any group that the document of a version describes.
func (s *Schemas) In(version schema.GroupVersion, kind schema.GroupVersionKind) (*Type, error) {
	load := s.versions[version]
	if load == nil {
		return &Type{parseable: typed.DeducedParseableType}, nil
	}
	described, err := load()
	if err != nil {
		return nil, fmt.Errorf("the OpenAPI document of %s: %w", kind.GroupVersion(), err)
	}
	name, ok := described.names[kind]
	if !ok {
		return &Type{parseable: typed.DeducedParseableType}, nil
	}
	return &Type{parseable: typed.ParseableType{TypeRef: named(name), Schema: &described.schema}}, nil
}

// Merge merges a configuration into an object of a kind that the document of a version describes: see Type.Merge.
func (s *Schemas) Merge(version schema.GroupVersion, kind schema.GroupVersionKind,
	object, config map[string]any) (map[string]any, error) {
	of, err := s.In(version, kind)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return of.Merge(object, config)
}
