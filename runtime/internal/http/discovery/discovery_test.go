package discovery

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func decoded[T any](t *testing.T, a http.Handler, path string, headers ...string) T {
	t.Helper()
	w := do(a, path, headers...)
	var out T
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != 200 {
		t.Fatalf("%s: %d %v %s", path, w.Code, err, w.Body)
	}
	return out
}

func TestDiscovery(t *testing.T) {
	a := serve(t, widgets, gadgets)
	if got := do(a, "/api"); got.Code != 404 {
		t.Errorf("/api without a core group: %d %s", got.Code, got.Body)
	}
	groups := decoded[metav1.APIGroupList](t, a, "/apis/")
	if groups.Kind != "APIGroupList" || len(groups.Groups) != 1 ||
		groups.Groups[0].PreferredVersion.GroupVersion != "shop.example.com/v1" || len(groups.Groups[0].Versions) != 2 {
		t.Errorf("%+v", groups)
	}
	if got := decoded[metav1.APIGroup](t, a, "/apis/shop.example.com"); got.Kind != "APIGroup" ||
		got.Name != "shop.example.com" {
		t.Errorf("%+v", got)
	}
	list := decoded[metav1.APIResourceList](t, a, base)
	names := make([]string, len(list.APIResources))
	for i, r := range list.APIResources {
		names[i] = r.Name
	}
	if !slices.Equal(names, []string{"gadgets", "widgets", "widgets/status"}) ||
		list.GroupVersion != "shop.example.com/v1" {
		t.Errorf("%+v", list)
	}
	widget := list.APIResources[1]
	if !widget.Namespaced || widget.SingularName != "widget" || widget.Kind != "Widget" ||
		widget.ShortNames[0] != "wg" || widget.Categories[0] != "all" ||
		widget.StorageVersionHash == "" || strings.Join(widget.Verbs, " ") != "get list" {
		t.Errorf("%+v", widget)
	}
	if got := list.APIResources[2]; strings.Join(got.Verbs, " ") != "get patch" || got.Kind != "Widget" ||
		!got.Namespaced {
		t.Errorf("%+v", got)
	}
	if old := decoded[metav1.APIResourceList](t, a, "/apis/shop.example.com/v1beta1"); len(old.APIResources) != 2 {
		t.Errorf("%+v", old)
	}
}

func TestAggregatedDiscovery(t *testing.T) {
	a := serve(t, widgets, gadgets)
	const kubectls = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
		"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
	w := do(a, "/apis", "Accept", kubectls)
	var list struct {
		Kind, APIVersion string
		Items            []groupDiscovery
	}
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	if list.Kind != "APIGroupDiscoveryList" || list.APIVersion != "apidiscovery.k8s.io/v2" ||
		w.Header().Get("Content-Type") != "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
	versions := list.Items[0].Versions
	if list.Items[0].Metadata.Name != "shop.example.com" || versions[0].Version != "v1" ||
		versions[0].Freshness != "Current" ||
		versions[0].Resources[1].Resource != "widgets" ||
		versions[0].Resources[1].Subresources[0].Subresource != "status" ||
		versions[0].Resources[0].Scope != "Cluster" {
		t.Errorf("%s", w.Body)
	}
	tag := w.Header().Get("Etag")
	if again := do(a, "/apis", "Accept", kubectls, "If-None-Match", tag); again.Code != 304 ||
		again.Body.Len() != 0 || len(tag) < 20 {
		t.Error(again.Code, tag)
	}
	if other := do(a, "/apis", "Accept", kubectls, "If-None-Match", `"x"`); other.Code != 200 {
		t.Error(other.Code)
	}
	old := do(a, "/apis", "Accept", "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList")
	if !strings.Contains(old.Body.String(), `"apidiscovery.k8s.io/v2beta1"`) {
		t.Error(old.Body)
	}
	if bogus := do(a, "/apis", "Accept",
		"application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList"); bogus.Code != 406 {
		t.Error(bogus.Code)
	}
	if yaml := do(a, "/apis", "Accept", "application/yaml"); !strings.HasPrefix(yaml.Body.String(),
		"apiVersion: v1\n") {
		t.Error(yaml.Body)
	}
}

func TestOpenAPI(t *testing.T) {
	a := serve(t, widgets)
	index := decoded[struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}](t, a, "/openapi/v3")
	for _, accept := range []string{openAPIProtobuf, "text/html", ";;;"} {
		if w := do(a, "/openapi/v3", "Accept", accept); w.Code != 200 ||
			w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("the index, which is there as JSON alone, with Accept %q: %d %v", accept, w.Code, w.Header())
		}
	}
	address := index.Paths["apis/shop.example.com/v1"].ServerRelativeURL
	if !strings.HasPrefix(address, "/openapi/v3/apis/shop.example.com/v1?hash=") {
		t.Fatal(index)
	}
	w := do(a, address, "Accept", "application/json, "+openAPIProtobuf)
	if w.Code != 200 || w.Body.String() != `{"openapi":"3.0.0"}` ||
		w.Header().Get("Cache-Control") != "public, immutable" || w.Header().Get("Expires") == "" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if again := do(a, address, "If-None-Match", w.Header().Get("Etag")); again.Code != 304 {
		t.Error(again.Code)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if plain := do(a, u.Path); plain.Code != 200 || plain.Header().Get("Cache-Control") != "" {
		t.Error(plain.Code, plain.Header())
	}
	if stale := do(a, u.Path+"?hash=old"); stale.Code != 301 || stale.Header().Get("Location") != address {
		t.Error(stale.Code, stale.Header())
	}
	if other := do(a, address, "Accept", swaggerProtobuf); other.Code != 406 {
		t.Error(other.Code)
	}
	if v2 := do(a, "/openapi/v2"); v2.Code != 404 {
		t.Error(v2.Code)
	}
}
