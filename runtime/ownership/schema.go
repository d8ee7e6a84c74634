package ownership

import (
	"encoding/json"
	"fmt"
	"sync"

	"apigen.dev/runtime/api"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Schemas are the schemas of a server's API groups. The first write that needs a schema reads it from the OpenAPI v3
// documents, so a server that serves no writes never reads them. The zero value has none. Schemas are safe for
// concurrent use, once all groups were added.
type Schemas struct {
	versions map[schema.GroupVersion]func() (managedfields.TypeConverter, error)
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
		s.versions = map[schema.GroupVersion]func() (managedfields.TypeConverter, error){}
	}
	for version, document := range documents {
		s.versions[schema.GroupVersion{Group: group, Version: version}] = sync.OnceValues(
			func() (managedfields.TypeConverter, error) { return parse(document) })
	}
}

// Of returns a converter that makes typed values of objects of a kind. For a kind that no document describes it returns
// the converter for kinds without a schema, in which lists are atomic.
func (s *Schemas) Of(kind schema.GroupVersionKind) (managedfields.TypeConverter, error) {
	return s.In(kind.GroupVersion(), kind)
}

// In is Of for a kind of any group that the document of a version describes.
func (s *Schemas) In(version schema.GroupVersion, kind schema.GroupVersionKind) (managedfields.TypeConverter, error) {
	load := s.versions[version]
	if load == nil {
		return newWideConverter(managedfields.NewDeducedTypeConverter()), nil
	}
	types, err := load()
	if err != nil {
		return nil, fmt.Errorf("the OpenAPI document of %s: %w", kind.GroupVersion(), err)
	}
	probe := &unstructured.Unstructured{Object: map[string]any{}}
	probe.SetGroupVersionKind(kind)
	if _, err := types.ObjectToTyped(probe); err != nil {
		//nolint:nilerr // The document doesn't describe the kind, which is no error.
		return newWideConverter(managedfields.NewDeducedTypeConverter()), nil
	}
	return newWideConverter(types), nil
}

func parse(document api.Document) (managedfields.TypeConverter, error) {
	data, err := document.JSON()
	if err != nil {
		return nil, err
	}
	var parsed struct {
		Components struct {
			Schemas map[string]*spec.Schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(data, &parsed); err != nil {
		return nil, err
	}
	return managedfields.NewTypeConverter(parsed.Components.Schemas, false)
}
