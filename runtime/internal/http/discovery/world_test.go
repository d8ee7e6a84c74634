package discovery

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/http/respond"
	"apigen.dev/runtime/internal/jsondoc"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/verb"
)

// widgets is a namespaced kind, gadgets a cluster-scoped one.
var widgets = &verb.Info{
	Group: "shop.example.com",
	Names: api.Names{Kind: "Widget", ListKind: "WidgetList", Plural: "widgets", Singular: "widget",
		ShortNames: []string{"wg"}, Categories: []string{"all"}},
	Scope: api.Namespaced,
	Versions: []api.VersionInfo{
		{Name: "v1"},
		{Name: "v1beta1", Deprecated: `shop.example.com/v1beta1 Widget is "deprecated"`},
	},
	Storage:          "v1",
	Subresources:     []verb.Subresource{{Name: "status", Verbs: []string{"get", "patch", "update"}}},
	SelectableFields: []string{"spec.color"},
}

var gadgets = &verb.Info{
	Group:    "shop.example.com",
	Names:    api.Names{Kind: "Gadget", ListKind: "GadgetList", Plural: "gadgets", Singular: "gadget"},
	Scope:    api.Cluster,
	Versions: []api.VersionInfo{{Name: "v1"}},
	Storage:  "v1",
}

const base = "/apis/shop.example.com/v1"

// handler serves documents as the endpoint does.
type handler struct{ documents *Documents }

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info, err := request.New(r, nil)
	if err == nil {
		err = h.documents.Serve(w, r, info)
	}
	if err != nil {
		respond.Error(w, r, err)
	}
}

// serve serves the documents of one group.
func serve(t testing.TB, infos ...*verb.Info) handler {
	t.Helper()
	group := Group{Name: "shop.example.com", Versions: []string{"v1", "v1beta1"},
		OpenAPI: map[string]api.Document{"v1": jsondoc.New([]byte(`{"openapi":"3.0.0"}`))}}
	for _, info := range infos {
		group.Resources = append(group.Resources, Resource{info,
			map[string][]string{"": {"get", "list"}, "status": {"get", "patch"}}})
	}
	documents, err := New([]Group{group})
	if err != nil {
		t.Fatal(err)
	}
	return handler{documents}
}

// do sends a request through a recorder; headers are pairs.
func do(h http.Handler, target string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
