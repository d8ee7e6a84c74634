// Package discovery serves the documents that say what a server serves: discovery of groups, versions and resources, of
// one level and aggregated, and OpenAPI v2 and v3. Each is encoded once, when a client first asks for it; a request
// gets bytes with an ETag.
//
// It may know packages api, encoder, jsondoc, negotiation, request, respond, verb and wire. It doesn't know routes: a
// Group says which verbs its resources have.
package discovery

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/http/respond"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/verb"
)

// Group is a served API group.
type Group struct {
	Name string
	// Versions are in order of priority, the preferred version first.
	Versions  []string
	Resources []Resource
	// OpenAPI holds the OpenAPI v3 document of each version.
	OpenAPI map[string]api.Document
	// Swagger is the OpenAPI v2 document of all versions; zero if there is none.
	Swagger api.Document
	// Serves reports whether the server serves a resource in one of the resource's versions; nil serves all. If it is
	// set, the OpenAPI documents leave out the paths of resources that aren't served.
	Serves func(resource *verb.Info, version string) bool
	// Remotes are the versions that other servers serve, in place of the group's resources.
	Remotes map[string]Remote
}

// Resource is a resource of a group.
type Resource struct {
	Info *verb.Info
	// Verbs are the sorted verbs of the resource, under "", and of its subresources and extensions, under their names.
	Verbs map[string][]string
}

// Documents are the documents of a server by their paths. They are immutable.
type Documents struct{ byPath map[string]document }

type document func(w http.ResponseWriter, r *http.Request) error

// New returns the documents of all groups, which nobody may change. It fails if a group is served twice or its
// description is incomplete.
func New(groups []Group) (*Documents, error) {
	documents := map[string]document{}
	if err := addDiscovery(documents, groups); err != nil {
		return nil, err
	}
	if err := addOpenAPI(documents, groups); err != nil {
		return nil, err
	}
	addSwagger(documents, groups)
	return &Documents{documents}, nil
}

// Serve answers a request with the document of its path. If there is none, it returns the error 404.
func (d *Documents) Serve(w http.ResponseWriter, r *http.Request, info *request.Info) error {
	document := d.byPath[strings.TrimSuffix(info.Path, "/")]
	if document == nil || info.Irregular {
		return respond.ErrNotFound
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return respond.ErrMethodNotAllowed
	}
	return document(w, r)
}

// Paths returns the sorted paths of the documents, for an index of the server.
func (d *Documents) Paths() []string { return slices.Sorted(maps.Keys(d.byPath)) }

// groupRoot returns the path of a group.
func groupRoot(group string) string {
	if group == "" {
		return "/" + request.CoreRoot
	}
	return "/" + request.GroupsRoot + "/" + group
}

// check returns an error for a group with a resource in a version that the group doesn't list.
func (g *Group) check() error {
	if len(g.Versions) == 0 {
		return fmt.Errorf("group %q has no versions", g.Name)
	}
	for _, resource := range g.Resources {
		info := resource.Info
		for _, version := range info.Versions {
			if g.has(info, version.Name) && !slices.Contains(g.Versions, version.Name) {
				return fmt.Errorf("resource %s is served in version %s, which group %q doesn't list",
					info.GroupResource(), version.Name, g.Name)
			}
		}
	}
	return nil
}

func (g *Group) has(info *verb.Info, version string) bool {
	if _, remote := g.Remotes[version]; remote {
		return false
	}
	served := info.Version(version)
	return served != nil && !served.Unserved && (g.Serves == nil || g.Serves(info, version))
}

// resourcesIn returns the resources of a version, sorted by name.
func (g *Group) resourcesIn(version string) []Resource {
	var resources []Resource
	for _, resource := range g.Resources {
		if g.has(resource.Info, version) {
			resources = append(resources, resource)
		}
	}
	slices.SortFunc(resources, func(a, b Resource) int {
		return strings.Compare(a.Info.Names.Plural, b.Info.Names.Plural)
	})
	return resources
}
