package apigroups

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/http/endpoint"
	"apigen.dev/runtime/internal/jsondoc"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"k8s.io/apimachinery/pkg/version"
)

// DynamicResource is an open resource that comes while the server runs, with what describes it.
type DynamicResource struct {
	Resource registry.Resource
	Handle   verb.Handle
	// OpenAPI has the OpenAPI v3 document of each version, with the paths of this resource. Swagger is the OpenAPI v2
	// document of all versions.
	OpenAPI map[string]api.Document
	Swagger api.Document
}

// Join returns groups with dynamic resources: in a group of the same name, or in a new one behind the others.
func Join(groups []endpoint.Group, apis []DynamicResource) ([]endpoint.Group, error) {
	joined := slices.Clone(groups)
	by := map[string]*builder{}
	var order []string
	for _, add := range apis {
		name := add.Resource.Info().Group
		if by[name] == nil {
			by[name] = &builder{openAPI: map[string][]api.Document{}}
			order = append(order, name)
		}
		by[name].apis = append(by[name].apis, add)
	}
	slices.Sort(order)
	for _, name := range order {
		at := slices.IndexFunc(joined, func(g endpoint.Group) bool { return g.Name == name })
		if at < 0 {
			at, joined = len(joined), append(joined, endpoint.Group{})
			joined[at].Name = name
		}
		joined[at] = by[name].group(joined[at])
	}
	return joined, nil
}

// builder adds resources to a group.
type builder struct {
	apis    []DynamicResource
	openAPI map[string][]api.Document
	swagger []api.Document
}

func (b *builder) group(of endpoint.Group) endpoint.Group {
	of.Versions = slices.Clone(of.Versions)
	of.Resources, of.Handles = slices.Clone(of.Resources), slices.Clone(of.Handles)
	own := len(of.Versions)
	for name, document := range of.OpenAPI {
		b.openAPI[name] = append(b.openAPI[name], document)
	}
	if !of.Swagger.IsZero() {
		b.swagger = append(b.swagger, of.Swagger)
	}
	for _, add := range b.apis {
		of.Resources, of.Handles = append(of.Resources, add.Resource), append(of.Handles, add.Handle)
		for _, v := range add.Resource.Info().Versions {
			if !v.Unserved && !slices.Contains(of.Versions, v.Name) {
				of.Versions = append(of.Versions, v.Name)
			}
		}
		for name, document := range add.OpenAPI {
			b.openAPI[name] = append(b.openAPI[name], document)
		}
		if !add.Swagger.IsZero() {
			b.swagger = append(b.swagger, add.Swagger)
		}
	}
	slices.SortStableFunc(of.Versions[own:], func(a, b string) int {
		return version.CompareKubeAwareVersionStrings(b, a)
	})
	of.OpenAPI = map[string]api.Document{}
	for name, documents := range b.openAPI {
		of.OpenAPI[name] = joinDocuments(documents, "components", "schemas")
	}
	of.Swagger = joinDocuments(b.swagger, "definitions", "")
	return of
}

// joinDocuments returns a document with the paths and schemas of all, made when it is first asked for. The schemas are
// the member below another one; without that, they are the member itself.
func joinDocuments(documents []api.Document, member, below string) api.Document {
	if len(documents) == 0 {
		return api.Document{}
	}
	if len(documents) == 1 {
		return documents[0]
	}
	var hashes strings.Builder
	for _, d := range documents {
		hashes.WriteString(d.Hash)
	}
	return jsondoc.Deferred([]byte(hashes.String()), func() ([]byte, error) {
		var all map[string]json.RawMessage
		paths, schemas := map[string]json.RawMessage{}, map[string]json.RawMessage{}
		for _, d := range documents {
			members, err := parts(d, member, below, paths, schemas)
			if err != nil {
				return nil, err
			}
			if all == nil {
				all = members
			}
		}
		var err error
		if all["paths"], err = json.Marshal(paths); err != nil {
			return nil, err
		}
		var joined any = schemas
		if below != "" {
			joined = map[string]any{below: schemas}
		}
		if all[member], err = json.Marshal(joined); err != nil {
			return nil, err
		}
		return json.Marshal(all)
	})
}

// parts adds the paths and schemas of a document, and returns its members.
func parts(
	d api.Document, member, below string, paths, schemas map[string]json.RawMessage,
) (members map[string]json.RawMessage, err error) {
	data, err := d.JSON()
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, err
	}
	var own map[string]json.RawMessage
	if err := json.Unmarshal(members["paths"], &own); err != nil {
		return nil, fmt.Errorf("paths: %w", err)
	}
	maps.Copy(paths, own)
	inner := members[member]
	if below != "" {
		var outer map[string]json.RawMessage
		if err := json.Unmarshal(inner, &outer); err != nil {
			return nil, fmt.Errorf("%s: %w", member, err)
		}
		inner = outer[below]
	}
	own = nil
	if inner != nil {
		if err := json.Unmarshal(inner, &own); err != nil {
			return nil, fmt.Errorf("%s: %w", below, err)
		}
	}
	maps.Copy(schemas, own)
	return members, nil
}
