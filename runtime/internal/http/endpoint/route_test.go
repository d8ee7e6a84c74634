package endpoint

import (
	"net/http"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/jsondoc"
	"apigen.dev/runtime/internal/verb"
)

const base = "/apis/shop.example.com/v1"

func TestRoutes(t *testing.T) {
	const merge = "application/merge-patch+json"
	cases := []struct {
		method, path string
		code         int
		asked        string
		allow        string
	}{
		{"GET", base + "/widgets", 200, "list  {v1 0}", ""},
		{"GET", base + "/widgets/", 200, "list  {v1 0}", ""},
		{"GET", base + "/namespaces/n/widgets", 200, "list n {v1 0}", ""},
		{"GET", "/apis/shop.example.com/v1beta1/namespaces/n/widgets", 200, "list n {v1beta1 0}", ""},
		{"GET", base + "/gadgets", 200, "list  {v1 0}", ""},
		{"GET", base + "/namespaces/n/widgets/a", 200, "get n a  {v1 0}", ""},
		{"HEAD", base + "/namespaces/n/widgets/a", 200, "get n a  {v1 0}", ""},
		{"GET", base + "/namespaces/n/widgets/a/status", 200, "get n a  {v1 0}", ""},
		{"GET", base + "/gadgets/a", 200, "get  a  {v1 0}", ""},
		{"POST", base + "/namespaces/n/widgets", 201, "create n {v1 0}", ""},
		{"PUT", base + "/namespaces/n/widgets/a", 200, "update n a  {v1 0}", ""},
		{"PUT", base + "/namespaces/n/widgets/a/status", 200, "update n a status {v1 0}", ""},
		{"PATCH", base + "/namespaces/n/widgets/a", 200, "patch n a  application/merge-patch+json {v1 0}", ""},
		{"PATCH", base + "/namespaces/n/widgets/a/status", 200,
			"patch n a status application/merge-patch+json {v1 0}", ""},
		{"DELETE", base + "/namespaces/n/widgets/a", 200, "delete n a", ""},
		{"DELETE", base + "/namespaces/n/widgets", 200, "deletecollection n", ""},
		{"DELETE", base + "/gadgets", 200, "deletecollection ", ""},

		{"HEAD", base + "/widgets", 405, "", "GET"},
		{"HEAD", base + "/namespaces/n/widgets?limit=1", 405, "", "GET, POST, DELETE"},
		{"POST", base + "/widgets", 405, "", "GET"},
		{"DELETE", base + "/widgets", 405, "", "GET"},
		{"PATCH", base + "/namespaces/n/widgets", 405, "", "GET, POST, DELETE"},
		{"OPTIONS", base + "/namespaces/n/widgets/a", 405, "", "GET, HEAD, PUT, PATCH, DELETE"},
		{"POST", base + "/namespaces/n/widgets/a", 405, "", "GET, HEAD, PUT, PATCH, DELETE"},
		{"DELETE", base + "/namespaces/n/widgets/a/status", 405, "", "GET, HEAD, PUT, PATCH"},
		{"HEAD", base + "/widgets?watch=1", 405, "", "GET"},
		{"POST", base + "/watch/namespaces/n/widgets", 405, "", "GET"},
		{"DELETE", base + "/watch/namespaces/n/widgets/a", 405, "", "GET"},

		{"GET", base + "/widgets/a", 404, "", ""},
		{"GET", base + "/namespaces/n/gadgets", 404, "", ""},
		{"GET", base + "/namespaces/n/gadgets/a", 404, "", ""},
		{"GET", base + "/namespaces/n/widgets/a/scale", 404, "", ""},
		{"GET", base + "/namespaces/n/widgets/a/status/more", 404, "", ""},
		{"GET", base + "/Widgets", 404, "", ""},
		{"GET", base + "/proxy/widgets", 404, "", ""},
		{"GET", base + "/namespaces/n/widgets/a%2fb", 404, "", ""},
		{"GET", base + "/namespaces/n/widgets/%2e%2e", 404, "", ""},
		{"GET", base + "/namespaces/n/widgets//", 200, "list n {v1 0}", ""},
		{"GET", base + "/namespaces/n//widgets//", 404, "", ""},
		{"GET", base + "/namespaces/n/widgets/" + strings.Repeat("a", 65536), 404, "", ""},
		{"GET", "/apis/shop.example.com/v2/widgets", 404, "", ""},
		{"GET", "/apis/nope.example.com/v1/widgets", 404, "", ""},
		{"GET", "/api/v1/pods", 404, "", ""},
		{"GET", "/apis/nope.example.com", 404, "", ""},
		{"GET", base + "/watch", 404, "", ""},
		{"POST", "/apis", 405, "", "GET, HEAD"},
	}
	for _, c := range cases {
		path := c.path
		if len(path) > 80 {
			path = path[:80]
		}
		t.Run(c.method+" "+path, func(t *testing.T) {
			a, fakes := serve(t, widgets, gadgets)
			for _, f := range fakes {
				f.deletion.Done = true
			}
			w := do(a, c.method, c.path, "{}", "Content-Type", map[bool]string{true: merge,
				false: "application/json"}[c.method == "PATCH"])
			if w.Code != c.code || fakes[0].asked+fakes[1].asked != c.asked || w.Header().Get("Allow") != c.allow {
				t.Errorf("%d %q allow %q: %s", w.Code, fakes[0].asked+fakes[1].asked, w.Header().Get("Allow"), w.Body)
			}
			if w.Code >= 400 && statusIn(t, w).Code != int32(w.Code) {
				t.Error(w.Body)
			}
			if fakes[0].openPages+fakes[1].openPages != 0 {
				t.Error("a page was left open")
			}
		})
	}
}

func TestUnknownPathsAreNotFoundInKubesWords(t *testing.T) {
	a, _ := serve(t, widgets)
	status := statusIn(t, do(a, "GET", "/apis/nope.example.com/v1/foos", ""))
	if status.Reason != "NotFound" || status.Message != "the server could not find the requested resource" ||
		status.Details == nil {
		t.Errorf("%+v", status)
	}
}

// kubectl asks for the namespace of what was not found, and shows that answer instead of the first one.
func TestNamespacesThatAreNoObjects(t *testing.T) {
	a, _ := serve(t, widgets)
	status := statusIn(t, do(a, "GET", "/api/v1/namespaces/team", ""))
	if status.Reason != "NotFound" ||
		status.Message != `namespace "team" is only a name here: the object was not found` ||
		status.Details == nil || status.Details.Name != "" {
		t.Errorf("%+v", status)
	}
}

func TestNamespacesAreTheirOwnNamespace(t *testing.T) {
	namespaces := *gadgets
	namespaces.Group, namespaces.Names.Plural = "", "namespaces"
	namespaces.Subresources = []verb.Subresource{{Name: "finalize", Verbs: []string{"get", "patch", "update"}}}
	f := &fake{info: &namespaces}
	group := Group{}
	group.Versions = []string{"v1"}
	group.Handles = append(group.Handles, f)
	a, err := New(Config{Groups: []Group{group}})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/api/v1/namespaces":                "list  {v1 0}",
		"/api/v1/namespaces/a":              "get  a  {v1 0}",
		"/api/v1/namespaces/a/finalize":     "get  a  {v1 0}",
		"/api/v1/namespaces/a/namespaces":   "",
		"/api/v1/namespaces/a/namespaces/b": "",

		"/api/v1/namespaces/a/namespaces/a":                               "",
		"/api/v1/namespaces/a/namespaces/a?watch=1":                       "",
		"/api/v1/namespaces/a/namespaces?fieldSelector=metadata.name%3Da": "",
		"/api/v1/namespaces/a/namespaces/a/finalize":                      "",
	} {
		f.asked = ""
		if w := do(a, "GET", path, ""); f.asked != want || (want == "") != (w.Code == http.StatusNotFound) {
			t.Errorf("%s: %d %q", path, w.Code, f.asked)
		}
	}
	for _, method := range []string{"PUT", "PATCH", "DELETE"} {
		f.asked = ""
		w := do(a, method, "/api/v1/namespaces/a/namespaces/a", "{}", "Content-Type", "application/merge-patch+json")
		if w.Code != http.StatusNotFound || f.asked != "" {
			t.Errorf("%s: %d %q", method, w.Code, f.asked)
		}
	}
}

func TestDeprecatedVersionsWarn(t *testing.T) {
	a, _ := serve(t, widgets)
	w := do(a, "GET", "/apis/shop.example.com/v1beta1/widgets", "")
	if got := w.Header().Get("Warning"); got != `299 - "shop.example.com/v1beta1 Widget is \"deprecated\""` {
		t.Errorf("%q", got)
	}
	if got := do(a, "GET", base+"/widgets", "").Header().Get("Warning"); got != "" {
		t.Errorf("%q", got)
	}
}

func TestNewRefusesContradictions(t *testing.T) {
	f := &fake{info: widgets}
	group := func(name string, versions ...string) Group {
		g := Group{Handles: nil}
		g.Name, g.Versions = name, versions
		g.Handles = append(g.Handles, f)
		return g
	}
	twice := group("shop.example.com", "v1", "v1beta1")
	twice.Handles = append(twice.Handles, f)
	openAPI := group("shop.example.com", "v1", "v1beta1")
	openAPI.OpenAPI = map[string]api.Document{"v2": jsondoc.New([]byte("{}"))}
	for name, g := range map[string]Group{
		"another group": group("else.example.com", "v1", "v1beta1"),
		"a version":     group("shop.example.com", "v1"),
		"served twice":  twice,
		"OpenAPI of v2": openAPI,
	} {
		if _, err := New(Config{Groups: []Group{g}}); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestVerbsOfTheRoutes(t *testing.T) {
	verbs := verbsOf(widgets)
	if got := strings.Join(verbs[""], " "); got != "create delete deletecollection get list patch update watch" {
		t.Errorf("the resource has %s", got)
	}
	if got := strings.Join(verbs["status"], " "); got != "get patch update" {
		t.Errorf("the status has %s", got)
	}
	few := *widgets
	few.Verbs = []string{"list", "get"}
	if got := strings.Join(verbsOf(&few)[""], " "); got != "get list" {
		t.Errorf("a resource with two verbs has %s", got)
	}
}
