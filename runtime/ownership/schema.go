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

// Schemas are the schemas of one API group, read from its OpenAPI v3 documents when they are first asked for: a server
// that is only read from never reads them. It is safe for concurrent use.
type Schemas struct {
	versions map[string]func() (managedfields.TypeConverter, error)
}

// NewSchemas takes the documents by the name of their version. Nil documents are allowed.
func NewSchemas(documents map[string]api.Document) *Schemas {
	s := &Schemas{versions: map[string]func() (managedfields.TypeConverter, error){}}
	for version, document := range documents {
		s.versions[version] = sync.OnceValues(func() (managedfields.TypeConverter, error) { return parse(document) })
	}
	return s
}

// Of makes typed values of objects of a kind. A kind that no document describes gets what the kinds without a schema have:
// its lists are atomic.
func (s *Schemas) Of(kind schema.GroupVersionKind) (managedfields.TypeConverter, error) {
	return s.In(kind.Version, kind)
}

// In is Of for a kind of any group, as a version's document describes it.
func (s *Schemas) In(version string, kind schema.GroupVersionKind) (managedfields.TypeConverter, error) {
	load := s.versions[version]
	if load == nil {
		return managedfields.NewDeducedTypeConverter(), nil
	}
	types, err := load()
	if err != nil {
		return nil, fmt.Errorf("the OpenAPI document of %s: %w", kind.GroupVersion(), err)
	}
	probe := &unstructured.Unstructured{Object: map[string]any{}}
	probe.SetGroupVersionKind(kind)
	if _, err := types.ObjectToTyped(probe); err != nil {
		//nolint:nilerr // The document doesn't describe the kind, which is no error.
		return managedfields.NewDeducedTypeConverter(), nil
	}
	return types, nil
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
