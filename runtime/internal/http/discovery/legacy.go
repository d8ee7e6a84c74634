package discovery

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/http/encoder"
	"apigen.dev/runtime/internal/http/negotiation"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/verb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// legacyDocument returns a document of legacy discovery, which describes one level: the groups, a group or a version.
func legacyDocument(object func() encoder.Message) document {
	e := encodedMessage(object)
	return func(w http.ResponseWriter, r *http.Request) error {
		media, err := negotiation.Output(r, legacyFormats)
		if err != nil {
			return err
		}
		return e.write(w, r, media, media.Format.MediaType())
	}
}

// legacyFormats are the formats of legacy discovery. As in kube-apiserver CBOR is none of them: client-go's discovery
// client accepts CBOR if clients are configured to prefer it, but can't read it.
func legacyFormats(f negotiation.Format, as negotiation.Transform) bool {
	return f != negotiation.CBOR && as == negotiation.Transform{}
}

// addDiscovery adds the documents below /apis, and below /api if there is a core group.
func addDiscovery(documents map[string]document, groups []Group) error {
	var core, named []*Group
	for i := range groups {
		group := &groups[i]
		if err := group.check(); err != nil {
			return err
		}
		root := groupRoot(group.Name)
		if group.Name == "" {
			core = append(core, group)
		} else {
			if documents[root] != nil {
				return fmt.Errorf("group %q is served twice", group.Name)
			}
			named = append(named, group)
			documents[root] = legacyDocument(func() encoder.Message {
				described := group.describe()
				described.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
				return &described
			})
		}
		for _, version := range group.Versions {
			if _, remote := group.Remotes[version]; remote {
				documents[root+"/"+version] = nil // its own server serves it
				continue
			}
			documents[root+"/"+version] = legacyDocument(func() encoder.Message { return group.resourceList(version) })
		}
	}
	if len(core) > 0 { // client-go makes a group without a name of an empty document
		documents["/"+request.CoreRoot] = rootDocument(func() encoder.Message { return coreVersions(core) },
			func() []groupDiscovery { return aggregated(core) })
	}
	documents["/"+request.GroupsRoot] = rootDocument(func() encoder.Message { return groupList(named) },
		func() []groupDiscovery { return aggregated(named) })
	return nil
}

// coreVersions is the document of /api. The last core group has its versions.
func coreVersions(core []*Group) *metav1.APIVersions {
	return &metav1.APIVersions{
		TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: core[len(core)-1].Versions,
		ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{},
	}
}

// groupList is the document of /apis.
func groupList(groups []*Group) *metav1.APIGroupList {
	list := &metav1.APIGroupList{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{},
	}
	for _, group := range groups {
		list.Groups = append(list.Groups, group.describe())
	}
	return list
}

func aggregated(groups []*Group) []groupDiscovery {
	all := []groupDiscovery{}
	for _, group := range groups {
		all = append(all, group.aggregated())
	}
	return all
}

func toJSON(object any) []byte {
	data, err := json.Marshal(object)
	if err != nil {
		panic(fmt.Sprintf("%T can't be encoded: %v", object, err)) // types of this package, made of strings
	}
	return append(data, '\n')
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

func (g *Group) resourceList(version string) *metav1.APIResourceList {
	list := &metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: schema.GroupVersion{Group: g.Name, Version: version}.String(),
		APIResources: []metav1.APIResource{},
	}
	for _, resource := range g.resourcesIn(version) {
		info := resource.Info
		main := metav1.APIResource{
			Name: info.Names.Plural, SingularName: info.Names.Singular, Namespaced: info.Scope == api.Namespaced,
			Kind: info.Names.Kind, Verbs: resource.Verbs[""], ShortNames: info.Names.ShortNames,
			Categories: info.Names.Categories, StorageVersionHash: storageVersionHash(info),
		}
		list.APIResources = append(list.APIResources, main)
		for _, part := range resource.subresources(version) {
			kind := part.ResponseKind
			entry := metav1.APIResource{
				Name: main.Name + "/" + part.Subresource, Namespaced: main.Namespaced, Kind: kind.Kind,
				Verbs: part.Verbs,
			}
			if kind.Group != info.Group || kind.Version != version {
				entry.Group, entry.Version = kind.Group, kind.Version
			}
			list.APIResources = append(list.APIResources, entry)
		}
	}
	return list
}

// storageVersionHash returns a hash that changes with the storage version of a resource.
func storageVersionHash(info *verb.Info) string {
	stored := info.Stored()
	if stored.Storage == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(stored.Group + "/" + stored.Storage + "/" + stored.Names.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}
