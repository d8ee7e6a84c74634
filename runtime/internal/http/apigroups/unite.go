package apigroups

import (
	"errors"
	"fmt"
	"slices"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/registry"
	"k8s.io/apimachinery/pkg/runtime"
)

// Unite makes one group of all that have the same name, such as the kinds that an author serves in a group and those of
// a ready-made feature. A group stands where its first part stood, and its versions and resources are in the order of
// the parts. Two parts with the same resource are an error.
func Unite(parts []registry.Group) ([]registry.Group, error) {
	var names []string
	by := map[string][]registry.Group{}
	for _, part := range parts {
		if by[part.Name] == nil {
			names = append(names, part.Name)
		}
		by[part.Name] = append(by[part.Name], part)
	}
	united := make([]registry.Group, 0, len(names))
	var errs []error
	for _, name := range names {
		group := by[name][0]
		if len(by[name]) > 1 {
			group = unite(by[name])
			errs = append(errs, checkResources(group))
		}
		united = append(united, group)
	}
	return united, errors.Join(errs...)
}

// unite makes one group of its parts.
func unite(parts []registry.Group) registry.Group {
	group := registry.Group{Name: parts[0].Name, OpenAPI: map[string]api.Document{}}
	openAPI := map[string][]api.Document{}
	var swagger []api.Document
	for _, part := range parts {
		for _, version := range part.Versions {
			if !slices.Contains(group.Versions, version) {
				group.Versions = append(group.Versions, version)
			}
		}
		group.Resources = append(group.Resources, part.Resources...)
		for version, document := range part.OpenAPI {
			openAPI[version] = append(openAPI[version], document)
		}
		if !part.Swagger.IsZero() {
			swagger = append(swagger, part.Swagger)
		}
	}
	for version, documents := range openAPI {
		group.OpenAPI[version] = joinDocuments(documents, "components", "schemas")
	}
	group.Swagger = joinDocuments(swagger, "definitions", "")
	group.AddToScheme = func(scheme *runtime.Scheme) error {
		for _, part := range parts {
			if part.AddToScheme == nil {
				continue
			}
			if err := part.AddToScheme(scheme); err != nil {
				return err
			}
		}
		return nil
	}
	return group
}

// checkResources refuses a group with two resources of one name.
func checkResources(group registry.Group) error {
	var errs []error
	for i, resource := range group.Resources {
		name := resource.Info().Names.Plural
		same := func(other registry.Resource) bool { return other.Info().Names.Plural == name }
		if slices.ContainsFunc(group.Resources[:i], same) {
			errs = append(errs, fmt.Errorf("two parts of the group %q serve %s: leave it out of one of them, or name "+
				"the features of the program one by one without that of the group", group.Name, name))
		}
	}
	return errors.Join(errs...)
}
