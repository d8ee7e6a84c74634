package discovery

import (
	"fmt"
	"net/http"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/negotiation"
	"apigen.dev/runtime/respond"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// rootDocument is the document of /api or /apis. A client that asks for aggregated discovery gets everything below it.
type rootDocument struct {
	legacyDocument
	aggregated map[string]aggregatedDocument // by version of apidiscovery.k8s.io
}

type aggregatedDocument struct {
	data   []byte
	hash   string
	binary binaryForms
}

// The group and the kind of aggregated discovery.
const (
	aggregatedGroup = "apidiscovery.k8s.io"
	aggregatedKind  = "APIGroupDiscoveryList"
)

func newRootDocument(legacy any, groups []groupDiscovery) *rootDocument {
	return &rootDocument{legacyDocument{data: toJSON(legacy)}, aggregatedDocuments(groups)}
}

func (d *rootDocument) serve(w http.ResponseWriter, r *http.Request) error {
	w.Header().Add("Vary", "Accept")
	media, err := negotiation.Output(r, func(f negotiation.Format, t negotiation.Transform) bool {
		_, ok := d.aggregated[t.Version]
		return legacyFormats(f, t) || ok && t.Group == aggregatedGroup && t.Kind == aggregatedKind
	})
	if err != nil {
		return err
	}
	if media.As == (negotiation.Transform{}) {
		return d.write(w, r, media)
	}
	document := d.aggregated[media.As.Version]
	w.Header().Set("Cache-Control", "public")
	if respond.NotModified(w, r, document.hash) {
		return nil
	}
	data, err := document.binary.encoded(media.Format, document.data)
	if err != nil {
		return err
	}
	as := media.As
	contentType := fmt.Sprintf("%s;g=%s;v=%s;as=%s", media.Format.MediaType(), as.Group, as.Version, as.Kind)
	return respond.Bytes(w, r, media, contentType, data)
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
	Resources []resourceDiscovery `json:"resources"`
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
		v := versionDiscovery{Version: version, Freshness: "Current", Resources: []resourceDiscovery{}}
		for _, resource := range g.resourcesIn(version) {
			v.Resources = append(v.Resources, resource.aggregated(version))
		}
		out.Versions = append(out.Versions, v)
	}
	return out
}

func (r *Resource) aggregated(version string) resourceDiscovery {
	info := r.Info
	kind := metav1.GroupVersionKind{Group: info.Group, Version: version, Kind: info.Names.Kind}
	out := resourceDiscovery{
		Resource:         info.Names.Plural,
		ResponseKind:     kind,
		Scope:            info.Scope,
		SingularResource: info.Names.Singular,
		Verbs:            r.Verbs[""],
		ShortNames:       info.Names.ShortNames,
		Categories:       info.Names.Categories,
	}
	for _, name := range info.Subresources {
		out.Subresources = append(out.Subresources, subresourceDiscovery{name, kind, r.Verbs[name]})
	}
	for i := range info.Extensions {
		e := &info.Extensions[i]
		out.Subresources = append(out.Subresources,
			subresourceDiscovery{e.Name, extensionKind(info, e, version), r.Verbs[e.Name]})
	}
	return out
}

// aggregatedDocuments returns the list of groups in each version of its kind.
func aggregatedDocuments(items []groupDiscovery) map[string]aggregatedDocument {
	documents := map[string]aggregatedDocument{}
	for _, version := range []string{"v2", "v2beta1"} {
		data := toJSON(struct {
			metav1.TypeMeta `json:",inline"`
			Metadata        struct{}         `json:"metadata"`
			Items           []groupDiscovery `json:"items"`
		}{metav1.TypeMeta{Kind: aggregatedKind, APIVersion: aggregatedGroup + "/" + version}, struct{}{}, items})
		documents[version] = aggregatedDocument{data: data, hash: api.HashOf(data)}
	}
	return documents
}
