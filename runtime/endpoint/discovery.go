package endpoint

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"apigen.dev/runtime/api"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// legacyDocument is discovery of one level: a root, a group or a version.
type legacyDocument struct {
	data   []byte
	binary binaryForms
}

func (d *legacyDocument) serve(a *API, w http.ResponseWriter, r *http.Request) error {
	media, err := negotiate(r, legacyFormats)
	if err != nil {
		return err
	}
	data, err := d.binary.in(media.format, d.data)
	if err != nil {
		return err
	}
	return a.writeBytes(w, r, media, media.contentType(), data)
}

// rootDocument is a root, which also tells everything below it to clients that ask for that.
type rootDocument struct {
	legacyDocument
	aggregated map[string]aggregatedDocument // by version of apidiscovery.k8s.io
}

type aggregatedDocument struct {
	data   []byte
	hash   string
	binary binaryForms
}

const (
	discoveryGroup = "apidiscovery.k8s.io"
	discoveryKind  = "APIGroupDiscoveryList"
)

func (d *rootDocument) serve(a *API, w http.ResponseWriter, r *http.Request) error {
	w.Header().Add("Vary", "Accept")
	media, err := negotiate(r, func(f format, t transform) bool {
		_, ok := d.aggregated[t.Version]
		return legacyFormats(f, t) || ok && t.Group == discoveryGroup && t.Kind == discoveryKind
	})
	if err != nil {
		return err
	}
	if media.as == (transform{}) {
		data, err := d.binary.in(media.format, d.data)
		if err != nil {
			return err
		}
		return a.writeBytes(w, r, media, media.contentType(), data)
	}
	document := d.aggregated[media.as.Version]
	w.Header().Set("Cache-Control", "public")
	if notModified(w, r, document.hash) {
		return nil
	}
	data, err := document.binary.in(media.format, document.data)
	if err != nil {
		return err
	}
	contentType := fmt.Sprintf("%s;g=%s;v=%s;as=%s", media.contentType(), media.as.Group, media.as.Version, media.as.Kind)
	return a.writeBytes(w, r, media, contentType, data)
}

// addDiscovery makes the documents of /api, where there is a core group, and /apis.
func addDiscovery(documents map[string]document, groups []Group) error {
	core := metav1.APIVersions{
		TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{}, ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{},
	}
	named := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{}}
	aggregatedCore, aggregatedNamed := []groupDiscovery{}, []groupDiscovery{}
	for i := range groups {
		group := &groups[i]
		if err := group.check(); err != nil {
			return err
		}
		root := groupRoot(group.Name)
		if group.Name == "" {
			core.Versions = group.Versions
			aggregatedCore = append(aggregatedCore, group.aggregated())
		} else {
			if documents[root] != nil {
				return fmt.Errorf("group %q is served twice", group.Name)
			}
			described := group.describe()
			named.Groups = append(named.Groups, described)
			described.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
			documents[root] = &legacyDocument{data: encoded(described)}
			aggregatedNamed = append(aggregatedNamed, group.aggregated())
		}
		for _, version := range group.Versions {
			documents[root+"/"+version] = &legacyDocument{data: encoded(group.resourceList(version))}
		}
	}
	if len(core.Versions) > 0 { // else it is not there: client-go makes a nameless group of an empty one
		documents["/"+coreRoot] = &rootDocument{legacyDocument{data: encoded(core)}, aggregatedDocuments(aggregatedCore)}
	}
	documents["/"+groupsRoot] = &rootDocument{legacyDocument{data: encoded(named)}, aggregatedDocuments(aggregatedNamed)}
	return nil
}

// encoded is plain data as JSON.
func encoded(object any) []byte {
	data, err := json.Marshal(object)
	if err != nil {
		panic(fmt.Sprintf("%T can't be encoded: %v", object, err)) // types of this file, made of strings
	}
	return append(data, '\n')
}

func groupRoot(group string) string {
	if group == "" {
		return "/" + coreRoot
	}
	return "/" + groupsRoot + "/" + group
}

// check finds descriptions that would be served as half a group.
func (g *Group) check() error {
	if len(g.Versions) == 0 {
		return fmt.Errorf("group %q has no versions", g.Name)
	}
	for _, handle := range g.Handles {
		info := handle.Info()
		for _, version := range info.Versions {
			if g.has(info, version.Name) && !slices.Contains(g.Versions, version.Name) {
				return fmt.Errorf("resource %s is served in version %s, which group %q doesn't list", info.GroupResource(), version.Name, g.Name)
			}
		}
	}
	return nil
}

// infos are the resources of a version, by name.
func (g *Group) infos(version string) []*api.Info {
	var infos []*api.Info
	for _, handle := range g.Handles {
		if info := handle.Info(); g.has(info, version) {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b *api.Info) int { return strings.Compare(a.Names.Plural, b.Names.Plural) })
	return infos
}

func (g *Group) describe() metav1.APIGroup {
	described := metav1.APIGroup{Name: g.Name}
	for _, version := range g.Versions {
		described.Versions = append(described.Versions, metav1.GroupVersionForDiscovery{
			GroupVersion: schema.GroupVersion{Group: g.Name, Version: version}.String(), Version: version,
		})
	}
	described.PreferredVersion = described.Versions[0]
	return described
}

func (g *Group) resourceList(version string) metav1.APIResourceList {
	list := metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: schema.GroupVersion{Group: g.Name, Version: version}.String(),
		APIResources: []metav1.APIResource{},
	}
	for _, info := range g.infos(version) {
		main := metav1.APIResource{
			Name:               info.Names.Plural,
			SingularName:       info.Names.Singular,
			Namespaced:         info.Scope == api.Namespaced,
			Kind:               info.Names.Kind,
			Verbs:              mainVerbs(info),
			ShortNames:         info.Names.ShortNames,
			Categories:         info.Names.Categories,
			StorageVersionHash: storageVersionHash(info),
		}
		list.APIResources = append(list.APIResources, main)
		for _, name := range info.Subresources {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: main.Name + "/" + name, Namespaced: main.Namespaced, Kind: main.Kind, Verbs: verbsOf(subresource),
			})
		}
		list.APIResources = append(list.APIResources, extensionRows(info, main, version)...)
	}
	return list
}

// verbsOf reads the table of routes.
func verbsOf(shapes ...shape) []string {
	var verbs []string
	for i := range routes {
		if slices.Contains(shapes, routes[i].shape) {
			verbs = append(verbs, routes[i].verb)
		}
	}
	slices.Sort(verbs)
	return slices.Compact(verbs)
}

// storageVersionHash tells clients when the stored version of a resource changes.
func storageVersionHash(info *api.Info) string {
	if info.Storage == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(info.Group + "/" + info.Storage + "/" + info.Names.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}

// The types of apidiscovery.k8s.io, whose v2beta1 and v2 differ in their name alone.
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
		for _, info := range g.infos(version) {
			kind := metav1.GroupVersionKind{Group: g.Name, Version: version, Kind: info.Names.Kind}
			resource := resourceDiscovery{
				Resource:         info.Names.Plural,
				ResponseKind:     kind,
				Scope:            info.Scope,
				SingularResource: info.Names.Singular,
				Verbs:            mainVerbs(info),
				ShortNames:       info.Names.ShortNames,
				Categories:       info.Names.Categories,
			}
			for _, name := range info.Subresources {
				resource.Subresources = append(resource.Subresources, subresourceDiscovery{name, kind, verbsOf(subresource)})
			}
			for i := range info.Extensions {
				e := &info.Extensions[i]
				resource.Subresources = append(resource.Subresources, subresourceDiscovery{e.Name, extensionKind(info, e, version), extensionVerbs(e)})
			}
			v.Resources = append(v.Resources, resource)
		}
		out.Versions = append(out.Versions, v)
	}
	return out
}

// aggregatedDocuments is the same list in each version of its kind.
func aggregatedDocuments(items []groupDiscovery) map[string]aggregatedDocument {
	documents := map[string]aggregatedDocument{}
	for _, version := range []string{"v2", "v2beta1"} {
		data := encoded(struct {
			metav1.TypeMeta `json:",inline"`
			Metadata        struct{}         `json:"metadata"`
			Items           []groupDiscovery `json:"items"`
		}{metav1.TypeMeta{Kind: discoveryKind, APIVersion: discoveryGroup + "/" + version}, struct{}{}, items})
		documents[version] = aggregatedDocument{data: data, hash: api.HashOf(data)}
	}
	return documents
}
