package endpoint

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/http/negotiation"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/verb"
)

func TestRefusedQueries(t *testing.T) {
	for _, c := range []struct {
		method, path, contentType string
		code                      int
		message                   string
	}{
		{"GET", collectionPath + "?resourceVersion=abc", "", 400, "invalid resource version"},
		{"GET", collectionPath + "?resourceVersion=99999999999999999999999", "", 400, ""},
		{"GET", collectionPath + "?resourceVersion=-1", "", 400, ""},
		{"GET", itemPath + "?resourceVersion=abc", "", 422, "resourceVersion: Invalid value"},
		{"GET", collectionPath + "?watch=1&resourceVersion=abc", "", 400, ""},
		{"GET", collectionPath + "?limit=abc", "", 400, ""},
		{"GET", collectionPath + "?timeoutSeconds=abc", "", 400, ""},
		{"GET", collectionPath + "?limit=1&resourceVersion=5&continue=x", "", 400,
			"specifying resource version is not allowed when using continue"},
		{"GET", collectionPath + "?resourceVersionMatch=Exact", "", 422,
			"resourceVersionMatch is forbidden unless resourceVersion is provided"},
		{"GET", collectionPath + "?resourceVersion=1&resourceVersionMatch=Bogus", "", 422, "Unsupported value"},
		{"GET", collectionPath + "?resourceVersion=0&resourceVersionMatch=Exact", "", 422, ""},
		{"GET", collectionPath + "?sendInitialEvents=true", "", 422, "sendInitialEvents is forbidden for list"},
		{"GET", collectionPath + "?watch=1&sendInitialEvents=true", "", 422,
			"sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"},
		{"GET", collectionPath + "?watch=1&resourceVersion=1&resourceVersionMatch=NotOlderThan", "", 422, ""},
		{"GET", collectionPath + "?fieldSelector=metadata.name", "", 400, ""},
		{"GET", collectionPath + "?fieldSelector=spec.size%3D1", "", 400, "field label not supported: spec.size"},
		{"GET", strings.Replace(collectionPath, "v1", "v1beta1", 1) + "?fieldSelector=spec.color%3Dred", "", 400,
			"field label not supported: spec.color"},
		{"GET", strings.Replace(collectionPath, "v1", "v1beta1", 1) + "?watch=1&fieldSelector=spec.color%3Dred", "",
			400, "field label not supported: spec.color"},
		{"DELETE", strings.Replace(collectionPath, "v1", "v1beta1", 1) + "?fieldSelector=spec.color%3Dred", "", 400,
			"field label not supported: spec.color"},
		{"GET", collectionPath + "?labelSelector=%21%21%21", "", 400, ""},
		{"POST", collectionPath + "?dryRun=Some", "", 422, `Unsupported value`},
		{"POST", collectionPath + "?dryRun=", "", 422, ""},
		{"POST", collectionPath + "?fieldValidation=Maybe", "", 422, `fieldValidation: Unsupported value: "Maybe"`},
		{"POST", collectionPath + "?fieldManager=" + strings.Repeat("x", 129), "", 422, ""},
		{"PUT", itemPath + "?fieldManager=a%01", "", 422, ""},
		{"PATCH", itemPath + "?force=true", "application/merge-patch+json", 422,
			"may not be specified for non-apply patch"},
	} {
		a, fakes := serve(t, widgets)
		w := do(a, c.method, c.path, "{}", "Content-Type", c.contentType)
		if w.Code != c.code || fakes[0].asked != "" || !strings.Contains(statusIn(t, w).Message, c.message) {
			t.Errorf("%s %s: %d %q %s", c.method, c.path, w.Code, fakes[0].asked, w.Body)
		}
	}
}

func TestListOptionsReachTheHandle(t *testing.T) {
	a, fakes := serve(t, widgets)
	do(a, "GET", collectionPath+"?limit=5&resourceVersion=7&resourceVersionMatch=Exact&labelSelector=a+in+(b,c)"+
		"&fieldSelector=spec.color%3Dred,metadata.namespace%3Dn&bogus=1", "")
	got := fakes[0].list
	if got.Limit != 5 || got.ResourceVersion != "7" || got.ResourceVersionMatch != "Exact" ||
		got.Labels.String() != "a in (b,c)" ||
		got.Fields.String() != "metadata.namespace=n,spec.color=red" {
		t.Errorf("%+v", got)
	}
	do(a, "GET", collectionPath+"?limit=-5&continue=abc&labelSelector=&resourceVersion=0", "")
	if got = fakes[0].list; got.Limit != 0 || got.Continue != "abc" || got.Labels != nil || got.Fields != nil {
		t.Errorf("%+v", got)
	}
}

func TestManagersAreNamedByTheirProgram(t *testing.T) {
	for agent, want := range map[string]string{
		"kubectl/v1.30 (linux/amd64)": "kubectl", "": "", "a\tb\x00c": "abc", strings.Repeat("é",
			100): strings.Repeat("é", 64),
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header.Set("User-Agent", agent)
		if got := managerOf(r); got != want {
			t.Errorf("%q: %q", agent, got)
		}
	}
}

func FuzzListOptions(f *testing.F) {
	f.Add("watch=1&limit=5&labelSelector=a=b&fieldSelector=metadata.name=x&resourceVersion=1", "application/json")
	f.Add("sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=9", asTable)
	f.Add("continue=x&resourceVersion=%", "*/*;q=0.3, application/yaml;pretty=1")
	a, _ := New(Config{})
	f.Fuzz(func(t *testing.T, query, accept string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.URL = &url.URL{Path: "/apis/g/v1/widgets", RawQuery: query}
		r.Header.Set("Accept", accept)
		info, err := request.New(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		req := &resourceRequest{
			resource: newResource(&fake{info: widgets},
				&widgets.Versions[0]), api: a, requestInfo: info, r: r, query: r.URL.Query(),
		}
		options, err := req.listOptions()
		if (options == nil) == (err == nil) {
			t.Error(options, err)
		}
		for _, allow := range []negotiation.AllowTransform{negotiation.ObjectTransform, negotiation.ListTransform,
			negotiation.NoTransform} {
			accepted, err := req.negotiate(negotiation.Output, allow)
			if err == nil && (accepted.media.Format >= negotiation.FormatCount ||
				accepted.form.Shape > verb.RowWithObject) {
				t.Error(accepted)
			}
		}
		_, _ = negotiation.StreamOutput(r, req.formats(negotiation.WatchTransform))
	})
}

func FuzzYAMLToJSON(f *testing.F) {
	f.Add("a: &a [x]\nb: *a\n")
	f.Add("{a: 1, a: 2}")
	f.Fuzz(func(t *testing.T, body string) {
		for _, validation := range []string{"Ignore", "Warn", "Strict"} {
			data, _, _, err := yamlToJSON([]byte(body), validation, 1<<16)
			if err == nil && len(data) > 1<<22 {
				t.Errorf("%d bytes of %d", len(data), len(body))
			}
		}
	})
}
