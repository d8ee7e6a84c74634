package conformance

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/http/endpoint"
	apirequest "apigen.dev/runtime/internal/request"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
	requestinfo "k8s.io/apiserver/pkg/endpoints/request"
)

// FuzzRoutes: a URL is read as k8s.io/apiserver reads it. Authorizers of both must see the same.
func FuzzRoutes(f *testing.F) {
	for _, seed := range [][3]string{
		{"GET", "/apis/g/v1/namespaces/a/widgets/x/status", "watch=1&fieldSelector=metadata.name=x"},
		{"DELETE", "/api/v1/watch/namespaces", ""},
		{"GET", "/apis/g/v1/namespaces//", "limit=x"}, {"GET", "/api/v1/namespaces/a/finalize", ""},
		{"PUT", "/api/v1/namespaces/a/status", ""},
		{"GET", "/apis/g/v1/widgets", "watch&fieldSelector=metadata.name=a/b"},
		{"GET", "/api/v1/proxy/namespaces/a/pods/b/c/d", ""}, {"HEAD", "/apis/g/v1/widgets", "watch=0"},
		{"GET", "/apis/g/v1/widgets", "watch=1&timeoutSeconds=x"},
		{"GET", "/apis/g/v1/widgets", "fieldSelector=metadata.name%3Da,metadata.name%3Db"},
		{"POST", "/apis//v1/widgets", ""}, {"OPTIONS", "/apis/g/v1/widgets/a", ""}, {"get", "/apis/g/v1/widgets", ""},
		{"GET", "/apis/g/v1/watch/widgets/a", "fieldSelector=metadata.name=b"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	theirs := &requestinfo.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"),
		GrouplessAPIPrefixes: sets.NewString("api")}
	f.Fuzz(func(t *testing.T, method, path, query string) {
		r := &http.Request{Method: method, URL: &url.URL{Path: path, RawQuery: query}, Header: http.Header{}}
		want, wantErr := theirs.NewRequestInfo(r)
		got, err := apirequest.New(r, nil)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%s %s?%s: %v, want %v", method, path, query, err, wantErr)
		}
		if err != nil {
			return
		}
		mine := fmt.Sprintf("%v %q %q group %q version %q namespace %q resource %q/%q name %q",
			got.IsResource, got.Path, got.Verb, got.Group, got.Version, got.Namespace, got.Resource,
			got.Subresource, got.Name)
		other := fmt.Sprintf("%v %q %q group %q version %q namespace %q resource %q/%q name %q",
			want.IsResourceRequest, want.Path, want.Verb, want.APIGroup, want.APIVersion, want.Namespace, want.Resource,
			want.Subresource, want.Name)
		if mine != other {
			t.Errorf("%s %s?%s:\n got %s\nwant %s", method, path, query, mine, other)
		}
	})
}

// FuzzNegotiation: of what both can write, a client gets what k8s.io/apiserver chooses. Where that has nothing, ours
// may only have something because it knows ranges of subtypes, or because it doesn't mind that no stream was asked for.
func FuzzNegotiation(f *testing.F) {
	for _, seed := range []string{
		"", "*/*", "application/json", "application/yaml", "text/plain", "application/*;q=0.2,application/yaml;q=0.1",
		"text/html, */*;q=0.1", ";;;,,,", "application/json;q=0",
		"application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=Bogus;v=v1;g=meta.k8s.io,application/yaml",
		"application/json;stream=watch", "application/json;charset=utf-8",
		"application/yaml;pretty=1", "*/yaml", "APPLICATION/JSON",
		"application/json;as=Table;v=v1;g=meta.k8s.io;includeObject=Object,application/json",
	} {
		f.Add(seed)
	}
	accepted := []runtime.SerializerInfo{
		{MediaType: "application/json", MediaTypeType: "application", MediaTypeSubType: "json"},
		{MediaType: "application/yaml", MediaTypeType: "application", MediaTypeSubType: "yaml"},
	}
	api, err := endpoint.New(endpoint.Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, accept string) {
		if strings.Contains(accept, "protobuf") || strings.Contains(accept, "cbor") {
			return
		}
		want, ok := negotiation.NegotiateMediaTypeOptions(accept, accepted, negotiation.DefaultEndpointRestrictions)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/apis", nil)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		switch got := w.Header().Get("Content-Type"); {
		case !ok && w.Code != http.StatusNotAcceptable && !strings.Contains(accept, "*") &&
			!strings.Contains(accept, "stream"):
			t.Errorf("%q: %d, where nothing is acceptable", accept, w.Code)
		case ok && (w.Code != http.StatusOK || !strings.HasPrefix(got, want.Accepted.MediaType)):
			t.Errorf("%q: %d %s, want %s", accept, w.Code, got, want.Accepted.MediaType)
		}
	})
}
