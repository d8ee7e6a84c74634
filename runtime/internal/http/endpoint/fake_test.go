package endpoint

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/jsondoc"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// widgets is a namespaced kind, gadgets a cluster-scoped one.
var widgets = &verb.Info{
	Group: "shop.example.com",
	Names: api.Names{Kind: "Widget", ListKind: "WidgetList", Plural: "widgets", Singular: "widget",
		ShortNames: []string{"wg"}, Categories: []string{"all"}},
	Scope: api.Namespaced,
	Versions: []api.VersionInfo{
		{Name: "v1", Columns: []api.Column{{Name: "Name", Type: "string", Format: "name"},
			{Name: "Color", Type: "string", Priority: 1}, {Name: "Age", Type: "date"}},
			SelectableFields: []string{"spec.color"}},
		{Name: "v1beta1", Deprecated: `shop.example.com/v1beta1 Widget is "deprecated"`,
			Removed: "1.9"},
	},
	Storage:          "v1",
	Subresources:     []verb.Subresource{{Name: "status", Verbs: []string{"get", "patch", "update"}}},
	SelectableFields: []string{"spec.color"},
}

// widgetColumns is the value of columnDefinitions in a Table of widgets.
const widgetColumns = `[{"name":"Name","type":"string","format":"name","description":"","priority":0},` +
	`{"name":"Color","type":"string","format":"","description":"","priority":1},` +
	`{"name":"Age","type":"date","format":"","description":"","priority":0}]`

var gadgets = &verb.Info{
	Group:    "shop.example.com",
	Names:    api.Names{Kind: "Gadget", ListKind: "GadgetList", Plural: "gadgets", Singular: "gadget"},
	Scope:    api.Cluster,
	Versions: []api.VersionInfo{{Name: "v1"}},
	Storage:  "v1",
}

// fake is a Handle that records what it was asked and answers what it was told.
type fake struct {
	info *verb.Info

	asked  string // the method and its arguments, printed
	body   verb.Body
	list   verb.ListOptions
	watch  api.WatchOptions
	write  verb.WriteOptions
	remove verb.DeleteOptions

	object    verb.Rendition
	page      verb.Page
	batches   [][]verb.Event
	events    <-chan []verb.Event // come behind batches
	endWith   error
	result    verb.Result
	deletion  verb.Deletion
	fail      error
	extension verb.ExtensionHandle
	openPages int
	watching  verb.Watch // instead of one of what stands above
}

func (f *fake) Info() *verb.Info { return f.info }
func (f *fake) Ready() error     { return nil }

func (f *fake) ToJSON(object verb.Rendition, _ verb.Form) (verb.Rendition, error) { return object, nil }

func (f *fake) Extension(string) *verb.ExtensionHandle { return &f.extension }

func (f *fake) Close() error { return nil }

func (f *fake) note(method string, args ...any) {
	f.asked = strings.TrimSuffix(fmt.Sprintln(append([]any{method}, args...)...), "\n")
}

func (f *fake) Get(_ context.Context, namespace, name, version string, form verb.Form) (verb.Rendition, error) {
	f.note("get", namespace, name, version, form)
	return f.object, f.fail
}

func (f *fake) List(_ context.Context, namespace string, opts verb.ListOptions, form verb.Form) (*verb.Page, error) {
	f.note("list", namespace, form)
	f.list = opts
	if f.fail != nil {
		return nil, f.fail
	}
	return f.open(), nil
}

func (f *fake) open() *verb.Page {
	f.openPages++
	page := f.page
	page.Close = func() { f.openPages-- }
	if page.Items == nil {
		page.Items = func(func(verb.Rendition) bool) {}
	}
	return &page
}

func (f *fake) Watch(_ context.Context, namespace string, opts api.WatchOptions, form verb.Form) (verb.Watch, error) {
	f.note("watch", namespace, form)
	f.watch = opts
	if f.fail != nil {
		return nil, f.fail
	}
	if f.watching != nil {
		return f.watching, nil
	}
	return &fakeWatch{batches: f.batches, events: f.events, end: f.endWith}, nil
}

func (f *fake) Create(
	_ context.Context, namespace string, body verb.Body, opts verb.WriteOptions,
) (verb.Result, error) {
	f.note("create", namespace, opts.Form)
	f.body, f.write = body, opts
	result := f.result
	result.Created = true
	return result, f.fail
}

func (f *fake) Update(_ context.Context, namespace, name, subresource string, body verb.Body,
	opts verb.WriteOptions) (verb.Result, error) {
	f.note("update", namespace, name, subresource, opts.Form)
	f.body, f.write = body, opts
	return f.result, f.fail
}

func (f *fake) Patch(_ context.Context, namespace, name, subresource string, kind verb.PatchType, body verb.Body,
	opts verb.WriteOptions) (verb.Result, error) {
	f.note("patch", namespace, name, subresource, kind, opts.Form)
	f.body, f.write = body, opts
	return f.result, f.fail
}

func (f *fake) Delete(_ context.Context, namespace, name string, opts verb.DeleteOptions) (verb.Deletion, error) {
	f.note("delete", namespace, name)
	f.remove = opts
	return f.deletion, f.fail
}

func (f *fake) DeleteCollection(_ context.Context, namespace string, opts verb.DeleteOptions,
	list verb.ListOptions) (*verb.Page, error) {
	f.note("deletecollection", namespace)
	f.remove, f.list = opts, list
	if f.fail != nil {
		return nil, f.fail
	}
	return f.open(), nil
}

// fakeWatch hands out batches, then an error, or waits for the context if there is none.
type fakeWatch struct {
	batches [][]verb.Event
	events  <-chan []verb.Event
	end     error
}

func (w *fakeWatch) Next(ctx context.Context) ([]verb.Event, error) {
	if len(w.batches) > 0 {
		batch := w.batches[0]
		w.batches = w.batches[1:]
		return batch, nil
	}
	if w.end != nil {
		return nil, w.end
	}
	select {
	case batch := <-w.events:
		return batch, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (w *fakeWatch) Close() {}

// rendered is an object as a Handle gives it: whole, or in another shape for which it has a head.
func rendered(form verb.Form, name string, version int) verb.Rendition {
	head := `"kind":"Widget","apiVersion":"shop.example.com/v1",`
	switch form.Shape {
	case verb.Metadata:
		head = `"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",`
	case verb.Row, verb.RowWithMetadata, verb.RowWithObject:
		head = ""
	}
	digits := fmt.Sprint(version)
	payload := `"metadata":{"name":"` + name + `","resourceVersion":"` + digits + `"},"spec":{"color":"red"}}`
	return verb.Rendition{
		Head: head, Payload: []byte(payload),
		VersionAt: uint32(strings.Index(payload, digits+`"}`)), VersionLen: uint32(len(digits)),
	}
}

func pageOf(items ...verb.Rendition) verb.Page {
	return verb.Page{ResourceVersion: "100", Len: len(items), Items: slices.Values(items)}
}

// serve sets up an API over fakes.
func serve(t testing.TB, infos ...*verb.Info) (*API, []*fake) {
	t.Helper()
	group := Group{Group: registry.Group{Name: "shop.example.com", Versions: []string{"v1", "v1beta1"},
		OpenAPI: map[string]api.Document{"v1": jsondoc.New([]byte(`{"openapi":"3.0.0"}`))}}}
	var fakes []*fake
	for _, info := range infos {
		f := &fake{info: info, object: rendered(verb.Form{}, "a", 7)}
		f.result = verb.Result{Object: f.object}
		fakes = append(fakes, f)
		group.Handles = append(group.Handles, f)
	}
	a, err := New(Config{Groups: []Group{group}, MaxBodyBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return a, fakes
}

// do sends a request through a recorder; headers are pairs.
func do(a http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.Background(), method, target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	info, err := request.New(r, nil)
	if err == nil {
		r = r.WithContext(request.WithInfo(r.Context(), info))
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	return w
}

func statusIn(t testing.TB, w *httptest.ResponseRecorder) metav1.Status {
	t.Helper()
	var status metav1.Status
	if err := yaml.Unmarshal(w.Body.Bytes(), &status); err != nil || status.Kind != "Status" {
		t.Fatalf("no Status: %d %s", w.Code, w.Body)
	}
	return status
}
