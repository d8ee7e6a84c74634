package discovery

import (
	"encoding/json"
	"fmt"
	"strings"

	"apigen.dev/runtime/api"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Remote is what another server says of a version of a group that it serves. The documents of the group, and those of
// all groups, list it; the document of the version itself is the other server's to serve. The zero value says nothing.
type Remote struct {
	version versionDiscovery
	// Swagger is the OpenAPI v2 document of the version; zero if there is none.
	Swagger api.Document
}

// The freshness of a version in aggregated discovery: whether the server could be asked.
const (
	fresh = "Current"
	stale = "Stale"
)

// Stale returns what was said before by a server that can't be asked now.
func (r Remote) Stale() Remote {
	r.version.Freshness = stale
	return r
}

// describe returns the version for aggregated discovery.
func (r Remote) describe(version string) versionDiscovery {
	v := r.version
	v.Version = version
	if v.Freshness == "" {
		v.Freshness = stale
	}
	if v.Resources == nil {
		v.Resources = []resourceDiscovery{}
	}
	return v
}

// IsFresh reports whether the server could be asked when the version was described.
func (r Remote) IsFresh() bool { return r.version.Freshness == fresh }

// RemoteResource is a resource of a Remote.
type RemoteResource struct {
	Name, Kind string
	Namespaced bool
	Verbs      []string
}

// Resources returns the resources of the version.
func (r Remote) Resources() []RemoteResource {
	all := make([]RemoteResource, len(r.version.Resources))
	for i, one := range r.version.Resources {
		all[i] = RemoteResource{one.Resource, one.ResponseKind.Kind, one.Scope == api.Namespaced, one.Verbs}
	}
	return all
}

// AcceptAggregated is the header Accept of a request for a document that ReadAggregated reads, or, from servers that
// don't have it, for the groups alone.
const AcceptAggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"

// ReadAggregated reads aggregated discovery of another server, by version. It returns nil for a document of another
// kind: that of a server that has no aggregated discovery.
func ReadAggregated(data []byte) (map[schema.GroupVersion]Remote, error) {
	var list struct {
		metav1.TypeMeta `json:",inline"`
		Items           []groupDiscovery `json:"items"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("aggregated discovery: %w", err)
	}
	if list.Kind != aggregatedKind {
		return nil, nil
	}
	all := map[schema.GroupVersion]Remote{}
	for _, group := range list.Items {
		for _, version := range group.Versions {
			version.Freshness = fresh
			gv := schema.GroupVersion{Group: group.Metadata.Name, Version: version.Version}
			version.keepOf(gv)
			all[gv] = Remote{version: version}
		}
	}
	return all, nil
}

// ReadResources reads the list of the resources of a version, which every server has.
func ReadResources(data []byte, gv schema.GroupVersion) (Remote, error) {
	var list metav1.APIResourceList
	if err := json.Unmarshal(data, &list); err != nil {
		return Remote{}, fmt.Errorf("discovery: %w", err)
	}
	if list.Kind != "APIResourceList" {
		return Remote{}, fmt.Errorf("discovery: the document is no APIResourceList, but %q", list.Kind)
	}
	if _, err := schema.ParseGroupVersion(list.GroupVersion); err != nil {
		return Remote{}, fmt.Errorf("discovery: %w", err)
	}
	v := versionDiscovery{Version: gv.Version, Freshness: fresh}
	at := map[string]int{}
	for i := range list.APIResources {
		v.add(&list.APIResources[i], gv, at)
	}
	v.keepOf(gv)
	return Remote{version: v}, nil
}

// add adds a resource or a subresource. at has the places of resources by name.
func (v *versionDiscovery) add(r *metav1.APIResource, gv schema.GroupVersion, at map[string]int) {
	kind := metav1.GroupVersionKind{Group: gv.Group, Version: gv.Version, Kind: r.Kind}
	if r.Version != "" {
		kind.Group, kind.Version = r.Group, r.Version
	}
	scope := api.Cluster
	if r.Namespaced {
		scope = api.Namespaced
	}
	resource, part, _ := strings.Cut(r.Name, "/")
	i, known := at[resource]
	if !known {
		i, at[resource] = len(v.Resources), len(v.Resources)
		v.Resources = append(v.Resources, resourceDiscovery{Resource: resource, Scope: scope, Verbs: []string{}})
	}
	if part != "" {
		v.Resources[i].Subresources = append(v.Resources[i].Subresources, subresourceDiscovery{part, kind, r.Verbs})
		return
	}
	v.Resources[i] = resourceDiscovery{
		Resource: resource, ResponseKind: kind, Scope: scope, SingularResource: r.SingularName, Verbs: r.Verbs,
		ShortNames: r.ShortNames, Categories: r.Categories, Subresources: v.Resources[i].Subresources,
	}
}
