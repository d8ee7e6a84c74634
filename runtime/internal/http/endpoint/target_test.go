package endpoint_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/http/endpoint"
	"apigen.dev/runtime/internal/http/headroom"
	"apigen.dev/runtime/internal/jsondoc"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// widget is a kind whose version is its hub.
type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              widgetSpec   `json:"spec,omitempty"`
	Status            widgetStatus `json:"status,omitempty"`
}

type widgetSpec struct {
	Color string `json:"color,omitempty"`
	Size  int32  `json:"size,omitempty"`
}

type widgetStatus struct {
	Phase string `json:"phase,omitempty"`
}

func (w *widget) DeepCopyObject() runtime.Object {
	out := *w
	w.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// target is a server over a memory backend, with one object.
type target struct {
	url, host, base, name string
	api                   *endpoint.API
	handle                verb.Handle
}

func newTarget(t testing.TB) *target {
	t.Helper()
	a, handle := newAPI(t)
	server := httptest.NewServer(a)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	g := &target{
		url: server.URL, host: strings.TrimPrefix(server.URL, "http://"), name: "a",
		base: "/apis/shop.example.com/v1/namespaces/default/widgets", api: a, handle: handle,
	}
	body := fmt.Sprintf(`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":%q},`+
		`"spec":{"color":"blue"}}`, g.name)
	if code := g.do(t, "POST", g.base, body); code != http.StatusCreated {
		t.Fatalf("the target's object: %d", code)
	}
	return g
}

// newAPI serves widgets from a memory backend.
func newAPI(t testing.TB) (*endpoint.API, verb.Handle) {
	t.Helper()
	backend := memory.New()
	t.Cleanup(func() {
		if err := backend.Close(); err != nil {
			t.Error(err)
		}
	})
	return newAPIOver(t, registry.Config{Backend: backend}, headroom.New(func(context.Context) bool { return false }))
}

// newAPIOver serves widgets from a backend, which stays the caller's. Requests claim memory of the account.
func newAPIOver(t testing.TB, config registry.Config, account *headroom.Account) (*endpoint.API, verb.Handle) {
	t.Helper()
	info := api.VersionInfo{Name: "v1", Columns: []api.Column{{Name: "Name", Type: "string", Format: "name"},
		{Name: "Color", Type: "string"}, {Name: "Age", Type: "date"}}}
	newWidget := func() *widget { return &widget{} }
	resource := registry.New(registry.Definition[*widget]{
		Group: "shop.example.com",
		Names: api.Names{Kind: "Widget", ListKind: "WidgetList", Plural: "widgets", Singular: "widget",
			ShortNames: []string{"wg"}},
		Scope: api.Namespaced,
		New:   newWidget,
		Versions: []codec.Version[*widget]{codec.VersionOf(info, codec.Conversion[*widget, *widget]{
			New: newWidget,
			Columns: []func(*widget) api.Cell{
				func(w *widget) api.Cell { return api.Text(w.Name) },
				func(w *widget) api.Cell { return api.Text(w.Spec.Color) },
				func(w *widget) api.Cell { return api.Age(w.CreationTimestamp.Time) },
			},
		})},
		Storage: "v1",
		Subresources: []registry.Subresource[*widget]{{
			Name:  "status",
			Copy:  func(from, to *widget) { to.Status = from.Status },
			Reset: func(w *widget) { w.Status = widgetStatus{} },
		}},
		SelectableFields: []api.SelectableField[*widget]{{Path: "spec.color", Value: func(w *widget) string {
			return w.Spec.Color
		}}},
	})
	config.Prefix = "/registry"
	handle, err := resource.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	group := endpoint.Group{
		Group: registry.Group{Name: "shop.example.com", Versions: []string{"v1"},
			Resources: []registry.Resource{resource},
			OpenAPI:   map[string]api.Document{"v1": jsondoc.New([]byte(openAPI))}},
		Handles: []verb.Handle{handle},
	}
	a, err := endpoint.New(endpoint.Config{Groups: []endpoint.Group{group}, Memory: account})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := handle.Close(); err != nil {
			t.Error(err)
		}
	})
	return a, handle
}

func (g *target) do(t testing.TB, method, path, body string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, g.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

func (g *target) exists(t testing.TB, name string) bool {
	t.Helper()
	return g.do(t, "GET", g.base+"/"+name, "") == http.StatusOK
}
