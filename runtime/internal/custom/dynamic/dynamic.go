// Package dynamic makes resources of CustomResourceDefinitions: kinds that a server serves without Go types. A resource
// has the same pipeline, cache and storage as one that the generator made; its objects are unstructured. What a
// definition has for one version, its schema, rules and columns, is compiled at the first use of the version.
//
// It may know packages api, codec, crdjson, jsonpath, registry, structural, subresource, cel and jsondoc.
package dynamic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/subresource"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// Converter converts objects between versions of a kind, with one result or one error for each object. Objects have
// apiVersion and kind, all the same; the converter may change them. Requests call it concurrently.
type Converter interface {
	Convert(ctx context.Context, objects []map[string]any, to schema.GroupVersion) ([]map[string]any, []error)
}

// Kind is what a definition says, as a server serves it.
type Kind struct {
	// Resource is the resource of all versions. Those that aren't served are Unserved in its Info.
	Resource registry.Resource
	// OpenAPI has the OpenAPI v3 document of each version.
	OpenAPI map[string]api.Document
	// Swagger is the OpenAPI v2 document of all versions.
	Swagger api.Document
	// Terminating makes the resource refuse new objects, since the definition is being deleted.
	Terminating atomic.Bool
}

// New makes the kind of a definition, under the names that the server accepted. It doesn't look at the schemas: a
// version that can't be compiled fails the requests for it.
func New(crd *apiextensionsv1.CustomResourceDefinition, convert Converter, template Template) (*Kind, error) {
	spec, names := &crd.Spec, *crd.Status.AcceptedNames.DeepCopy()
	resource := schema.GroupResource{Group: spec.Group, Resource: names.Plural} // the kind keeps nothing of crd
	definition := registry.Definition[*unstructured.Unstructured]{
		Group: spec.Group,
		Names: api.Names{
			Kind: names.Kind, ListKind: names.ListKind, Plural: names.Plural, Singular: names.Singular,
			ShortNames: names.ShortNames, Categories: names.Categories,
		},
		Scope:         api.Scope(spec.Scope),
		New:           newObject,
		StoragePrefix: spec.Group + "/" + spec.Names.Plural,
		Strategy: registry.Strategy[*unstructured.Unstructured]{
			RequireVersionOnUpdate: true,
		},
	}
	if spec.Scope == apiextensionsv1.ClusterScoped {
		definition.Scope = api.Cluster
	}
	sorted := slices.Clone(spec.Versions)
	slices.SortStableFunc(sorted, func(a, b apiextensionsv1.CustomResourceDefinitionVersion) int {
		return cmp.Or(compareBools(b.Served, a.Served), version.CompareKubeAwareVersionStrings(b.Name, a.Name))
	})
	kind := &Kind{OpenAPI: map[string]api.Document{}}
	definition.Strategy.AuthorizeCreate = func(ctx context.Context, _ *unstructured.Unstructured) error {
		if !kind.Terminating.Load() {
			return nil
		}
		const terminating = "create not allowed while custom resource definition is terminating"
		if info := request.InfoFrom(ctx); info != nil && info.Verb != "create" { // an update or a patch that creates
			return apierrors.NewForbidden(resource, info.Name, errors.New(terminating))
		}
		refused := apierrors.NewMethodNotSupported(resource, "create")
		refused.ErrStatus.Message = terminating
		return refused
	}
	storage := schema.GroupVersion{Group: spec.Group}
	for i := range sorted {
		if sorted[i].Storage {
			storage.Version = sorted[i].Name
		}
	}
	if storage.Version == "" {
		return nil, errors.New("no version is stored")
	}
	definition.Storage = storage.Version
	var versions []*kindVersion
	var described []describer
	for i := range sorted {
		v, err := newKindVersion(crd, &sorted[i], storage, convert)
		if err != nil {
			return nil, fmt.Errorf("version %s: %w", sorted[i].Name, err)
		}
		if sorted[i].Served {
			d := describer{v, names, definition.Scope == api.Namespaced}
			kind.OpenAPI[sorted[i].Name] = d.document(template)
			described = append(described, d)
		}
		definition.Versions = append(definition.Versions, codec.VersionOfMap(v.info(), v.mapping(context.Background())))
		versions = append(versions, v)
	}
	addSubresources(&definition, versions)
	if err := addSelectable(&definition, versions); err != nil {
		return nil, err
	}
	kind.Resource, kind.Swagger = registry.New(definition), swagger(described, template)
	return kind, nil
}

func newObject() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{}}
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// addSubresources adds those of the versions. Each is served in the versions that have it.
func addSubresources(d *registry.Definition[*unstructured.Unstructured], versions []*kindVersion) {
	var scale *subresource.Scale[*unstructured.Unstructured]
	scales := map[string]*subresource.Scale[*unstructured.Unstructured]{}
	var status []string
	for _, v := range versions {
		name, s := v.gvk.Version, v.spec.Subresources
		if s == nil {
			continue
		}
		if s.Status != nil {
			status = append(status, name)
		}
		if s.Scale == nil {
			continue
		}
		of := newScale(s.Scale, v)
		if scales[name] = of; scale == nil {
			first := *of
			first.In = func(version string) *subresource.Scale[*unstructured.Unstructured] { return scales[version] }
			scale = &first
		}
		scale.Versions = append(scale.Versions, name)
		scale.Paths[name] = fieldsOf(s.Scale.SpecReplicasPath)
	}
	if status != nil {
		d.Subresources = append(d.Subresources, registry.Subresource[*unstructured.Unstructured]{
			Name: "status", Versions: status,
			Copy: func(from, to *unstructured.Unstructured) {
				if value, ok := from.DeepCopy().Object["status"]; ok {
					to.Object["status"] = value
				} else {
					delete(to.Object, "status")
				}
			},
			Reset: func(obj *unstructured.Unstructured) { delete(obj.Object, "status") },
		})
	}
	d.Strategy.CountsStatus = true // a write in a version with the subresource doesn't change it
	if scale != nil {
		d.Extensions = append(d.Extensions, subresource.ScaleOf(*scale))
	}
}

// fieldsOf returns the names in a path like .spec.replicas.
func fieldsOf(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

func newScale(
	s *apiextensionsv1.CustomResourceSubresourceScale, v *kindVersion,
) *subresource.Scale[*unstructured.Unstructured] {
	replicas, observed := fieldsOf(s.SpecReplicasPath), fieldsOf(s.StatusReplicasPath)
	number := func(path []string) func(*unstructured.Unstructured) int32 {
		return func(obj *unstructured.Unstructured) int32 {
			n, _, _ := unstructured.NestedInt64(obj.Object, path...)
			return int32(n)
		}
	}
	scale := &subresource.Scale[*unstructured.Unstructured]{
		Replicas: number(replicas), StatusReplicas: number(observed), Paths: map[string][]string{},
		SetReplicas: func(obj *unstructured.Unstructured, n int32) {
			_ = unstructured.SetNestedField(obj.Object, int64(n), replicas...) // the schema refuses another form
		},
	}
	if v.convert != nil && v.gvk.Version != v.storage.Version {
		scale.Through = v.through
	}
	if s.LabelSelectorPath != nil && *s.LabelSelectorPath != "" {
		selector := fieldsOf(*s.LabelSelectorPath)
		scale.Selector = func(obj *unstructured.Unstructured) string {
			text, _, _ := unstructured.NestedString(obj.Object, selector...)
			return text
		}
	}
	return scale
}

// addSelectable adds the selectable fields, each with the versions that have it. A field of several versions has its
// value in the storage version, if that has it.
func addSelectable(d *registry.Definition[*unstructured.Unstructured], versions []*kindVersion) error {
	inStorageFirst := slices.SortedStableFunc(slices.Values(versions), func(a, b *kindVersion) int {
		return compareBools(b.spec.Storage, a.spec.Storage)
	})
	for _, v := range inStorageFirst {
		for _, selectable := range v.spec.SelectableFields {
			name := strings.TrimPrefix(selectable.JSONPath, ".")
			at := slices.IndexFunc(d.SelectableFields, func(f api.SelectableField[*unstructured.Unstructured]) bool {
				return f.Path == name
			})
			if at >= 0 {
				d.SelectableFields[at].Versions = append(d.SelectableFields[at].Versions, v.gvk.Version)
				continue
			}
			value, err := v.textAt(selectable.JSONPath)
			if err != nil {
				return err
			}
			d.SelectableFields = append(d.SelectableFields, api.SelectableField[*unstructured.Unstructured]{
				Path: name, Versions: []string{v.gvk.Version}, Value: value,
			})
		}
	}
	return nil
}
