package discovery

import (
	"cmp"
	"fmt"
	"net/http"
	"sync"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/http/encoder"
	"apigen.dev/runtime/internal/http/negotiation"
	"apigen.dev/runtime/internal/http/respond"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The group and the kind of aggregated discovery.
const (
	aggregatedGroup = "apidiscovery.k8s.io"
	aggregatedKind  = "APIGroupDiscoveryList"
)

// rootDocument returns the document of /api or /apis. A client that asks for aggregated discovery gets everything below
// it.
func rootDocument(legacy func() encoder.Message, groups func() []groupDiscovery) document {
	groupsOnly, aggregated := encodedMessage(legacy), aggregatedDocuments(groups)
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Add("Vary", "Accept")
		media, err := negotiation.Output(r, func(f negotiation.Format, t negotiation.Transform) bool {
			_, ok := aggregated[t.Version]
			return legacyFormats(f, t) || ok && t.Group == aggregatedGroup && t.Kind == aggregatedKind
		})
		if err != nil {
			return err
		}
		as := media.As
		if as == (negotiation.Transform{}) {
			return groupsOnly.write(w, r, media, media.Format.MediaType())
		}
		document := aggregated[as.Version]
		w.Header().Set("Cache-Control", "public")
		if respond.NotModified(w, r, document.text().hash) {
			return nil
		}
		return document.write(w, r, media,
			fmt.Sprintf("%s;g=%s;v=%s;as=%s", media.Format.MediaType(), as.Group, as.Version, as.Kind))
	}
}

// groupDiscovery and the types below it are those of apidiscovery.k8s.io, v2 and v2beta1, which have the same fields.
type groupDiscovery struct {
	Metadata struct {
		Name string `json:"name,omitempty"`
	} `json:"metadata"`
	Versions []versionDiscovery `json:"versions"`
}

type versionDiscovery struct {
	Version   string              `json:"version"`
	Resources []resourceDiscovery `json:"resources,omitempty"`
	Freshness string              `json:"freshness"`
}

type resourceDiscovery struct {
	Resource         string                  `json:"resource"`
	ResponseKind     metav1.GroupVersionKind `json:"responseKind"`
	Scope            api.Scope               `json:"scope"`
	SingularResource string                  `json:"singularResource"`
	Verbs            []string                `json:"verbs"`
	ShortNames       []string                `json:"shortNames,omitempty"`
	Categories       []string                `json:"categories,omitempty"`
	Subresources     []subresourceDiscovery  `json:"subresources,omitempty"`
}

type subresourceDiscovery struct {
	Subresource  string                  `json:"subresource"`
	ResponseKind metav1.GroupVersionKind `json:"responseKind"`
	Verbs        []string                `json:"verbs"`
}

func (g *Group) aggregated() groupDiscovery {
	var out groupDiscovery
	out.Metadata.Name = g.Name
	for _, version := range g.Versions {
		if remote, ok := g.Remotes[version]; ok {
			out.Versions = append(out.Versions, remote.describe(version))
			continue
		}
		v := versionDiscovery{Version: version, Freshness: fresh, Resources: []resourceDiscovery{}}
		for _, resource := range g.resourcesIn(version) {
			v.Resources = append(v.Resources, resource.aggregated(version))
		}
		out.Versions = append(out.Versions, v)
	}
	return out
}

func (r *Resource) aggregated(version string) resourceDiscovery {
	info := r.Info
	return resourceDiscovery{
		Resource:     info.Names.Plural,
		ResponseKind: metav1.GroupVersionKind{Group: info.Group, Version: version, Kind: info.Names.Kind},
		Scope:        info.Scope, SingularResource: info.Names.Singular, Verbs: r.Verbs[""],
		ShortNames: info.Names.ShortNames, Categories: info.Names.Categories, Subresources: r.subresources(version),
	}
}

func (r *Resource) subresources(version string) (out []subresourceDiscovery) {
	kind := metav1.GroupVersionKind{Group: r.Info.Group, Version: version, Kind: r.Info.Names.Kind}
	for _, s := range r.Info.Subresources {
		if s.In(version) {
			out = append(out, subresourceDiscovery{s.Name, kind, r.Verbs[s.Name]})
		}
	}
	for i := range r.Info.Extensions {
		e := &r.Info.Extensions[i]
		if !e.In(version) {
			continue
		}
		kind := kind // that of the resource, if the extension declares none
		if e.Kind.Kind != "" {
			kind = metav1.GroupVersionKind{
				Group: e.Kind.Group, Version: cmp.Or(e.Kind.Version, version), Kind: e.Kind.Kind,
			}
		}
		out = append(out, subresourceDiscovery{e.Name, kind, r.Verbs[e.Name]})
	}
	return out
}

// aggregatedDocuments returns the list of groups, by version of apidiscovery.k8s.io.
func aggregatedDocuments(items func() []groupDiscovery) map[string]*encoded {
	documents := map[string]*encoded{}
	items = sync.OnceValue(items)
	for _, version := range []string{"v2", "v2beta1"} {
		apiVersion := aggregatedGroup + "/" + version
		text := func() hashed {
			return hashOf(toJSON(struct {
				metav1.TypeMeta `json:",inline"`
				Metadata        struct{}         `json:"metadata"`
				Items           []groupDiscovery `json:"items"`
			}{metav1.TypeMeta{Kind: aggregatedKind, APIVersion: apiVersion}, struct{}{}, items()}))
		}
		documents[version] = newEncoded(text, func() ([]byte, error) { return aggregatedProtobuf(apiVersion, items()) })
	}
	return documents
}
