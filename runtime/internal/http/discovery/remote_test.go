package discovery

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/jsondoc"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var shopV1 = schema.GroupVersion{Group: "shop.example.com", Version: "v1"}

// TestRemote: what a server says of a version is said again by a server that passes requests on to it, whichever form
// of discovery the first one has.
func TestRemote(t *testing.T) {
	other := serve(t, widgets, gadgets)
	aggregated := do(other, "/apis", "Accept", AcceptAggregated).Body
	all, err := ReadAggregated(aggregated.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	legacy, err := ReadResources(do(other, base).Body.Bytes(), shopV1)
	if err != nil {
		t.Fatal(err)
	}
	want := decoded[aggregatedList](t, other, "/apis", "Accept", AcceptAggregated)
	for name, remote := range map[string]Remote{"aggregated": all[shopV1], "legacy": legacy} {
		a := front(t, remote)
		got := decoded[aggregatedList](t, a, "/apis", "Accept", AcceptAggregated)
		one, another := toJSON(got.Items[0].Versions[0]), toJSON(want.Items[0].Versions[0])
		if string(one) != string(another) {
			t.Errorf("%s:\ngot  %swant %s", name, one, another)
		}
		group := decoded[metav1.APIGroup](t, a, "/apis/shop.example.com")
		if group.PreferredVersion.Version != "v1" || len(group.Versions) != 2 {
			t.Errorf("%s: %+v", name, group)
		}
		if got := do(a, base); got.Code != http.StatusNotFound { // which the other server serves
			t.Errorf("%s: %d %s", name, got.Code, got.Body)
		}
		if !slices.Contains(a.documents.Paths(), base) {
			t.Errorf("%s: the index lacks %s", name, base)
		}
	}
	got := decoded[aggregatedList](t, front(t, legacy.Stale()), "/apis", "Accept", AcceptAggregated)
	if v := got.Items[0].Versions[0]; v.Freshness != "Stale" || len(v.Resources) != 2 {
		t.Errorf("a server that is away: %+v", v)
	}
	got = decoded[aggregatedList](t, front(t, Remote{}), "/apis", "Accept", AcceptAggregated)
	if v := got.Items[0].Versions[0]; v.Freshness != "Stale" || v.Version != "v1" || len(v.Resources) != 0 {
		t.Errorf("a server that never answered: %+v", v)
	}
}

type aggregatedList struct {
	metav1.TypeMeta `json:",inline"`
	Items           []groupDiscovery `json:"items"`
}

// front serves the documents of a group that has widgets in v1beta1 and a remote version v1.
func front(t *testing.T, remote Remote) handler {
	t.Helper()
	documents, err := New([]Group{{
		Name: shopV1.Group, Versions: []string{"v1", "v1beta1"}, Remotes: map[string]Remote{"v1": remote},
		Resources: []Resource{{widgets, map[string][]string{"": {"get", "list"}}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return handler{documents}
}

// TestReadRemote: documents of other servers may be anything.
func TestReadRemote(t *testing.T) {
	for _, text := range []string{"", "[]", `{"items":3}`, `{"kind":"Status"}`, `{"kind":"APIResourceList"`,
		`{"kind":"APIResourceList","groupVersion":"a/b/c"}`} {
		if _, err := ReadResources([]byte(text), shopV1); err == nil {
			t.Errorf("%s is read", text)
		}
	}
	all, err := ReadAggregated([]byte(`{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`))
	if all != nil || err != nil {
		t.Errorf("a list of groups: %v %v", all, err)
	}
	part, err := ReadResources([]byte(`{"kind":"APIResourceList","groupVersion":"a/v1","resources":[
		{"name":"things/status","kind":"Thing","namespaced":true,"verbs":["get"]},
		{"name":"things/scale","group":"autoscaling","version":"v1","kind":"Scale","verbs":["get"]}]}`), shopV1)
	if err != nil || len(part.version.Resources) != 1 || len(part.version.Resources[0].Subresources) != 2 ||
		part.version.Resources[0].Subresources[1].ResponseKind.Group != "autoscaling" {
		t.Errorf("subresources alone: %+v %v", part, err)
	}
}

// TestRemoteSwagger: paths of other versions aren't taken over, definitions that differ get other names, and garbage
// takes nothing away.
func TestRemoteSwagger(t *testing.T) {
	own := jsondoc.New([]byte(`{"paths":{"/apis/shop.example.com/v1beta1/widgets":{"get":{"r":
		{"$ref":"#/definitions/Meta"},"s":{"$ref":"#/definitions/Same"}}}},
		"definitions":{"Meta":{"type":"object"},
		"Same":{"type":"string","x-kubernetes-group-version-kind":[{"kind":"A"}]}}}`))
	theirs := jsondoc.New([]byte(`{"paths":{
		"/apis/shop.example.com/v1/widgets":{"get":{"r":{"$ref":"#/definitions/Widget"}}},
		"/apis/shop.example.com/v10/widgets":{"get":{}},"/api/v1/secrets":{"get":{}}},
		"definitions":{"Widget":{"properties":{"m":{"$ref":"#/definitions/Meta"},"s":{"$ref":"#/definitions/Same"}}},
		"Meta":{"type":"number"},"Unused":{},
		"Same":{"type":"string","x-kubernetes-group-version-kind":[
			{"group":"shop.example.com","version":"v1","kind":"B"}]}}}`))
	for _, remote := range []api.Document{theirs, jsondoc.New([]byte("garbage")), {}} {
		documents, err := New([]Group{{
			Name: shopV1.Group, Versions: []string{"v1", "v1beta1"}, Swagger: own,
			Remotes:   map[string]Remote{"v1": {Swagger: remote}},
			Resources: []Resource{{widgets, map[string][]string{"": {"get", "list"}}}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		got := decoded[swaggerParts](t, handler{documents}, "/openapi/v2")
		if string(got.Definitions["Meta"]) != `{"type":"object"}` || len(got.Paths) == 0 {
			t.Fatalf("%+v", got)
		}
		if remote.Hash != theirs.Hash {
			continue
		}
		if len(got.Paths) != 2 || got.Definitions["Unused"] != nil ||
			string(got.Definitions["Meta_v2"]) != `{"type":"number"}` ||
			!strings.Contains(string(got.Definitions["Widget"]), `"#/definitions/Meta_v2"`) ||
			!strings.Contains(string(got.Definitions["Widget"]), `"#/definitions/Same"`) {
			t.Errorf("%s", toJSON(got))
		}
		var kinds struct {
			Kinds []map[string]string `json:"x-kubernetes-group-version-kind"`
		}
		if err := json.Unmarshal(got.Definitions["Same"], &kinds); err != nil || len(kinds.Kinds) != 2 {
			t.Errorf("%s", got.Definitions["Same"])
		}
	}
}

func FuzzReadRemote(f *testing.F) {
	f.Add([]byte(`{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"g"},"versions":[{"version":"v1"}]}]}`))
	f.Add([]byte(`{"kind":"APIResourceList","groupVersion":"g/v1","resources":[{"name":"a/b"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		remote, err := ReadResources(data, shopV1)
		all, aggregatedErr := ReadAggregated(data)
		if err == nil {
			front(t, remote)
		}
		if aggregatedErr == nil {
			for _, remote := range all {
				front(t, remote)
			}
		}
	})
}
