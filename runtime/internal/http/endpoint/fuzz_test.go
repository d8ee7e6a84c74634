package endpoint_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FuzzServe sends whole requests to a server over a real registry. Whatever they are, nothing panics, the answer has a
// known code, and every refusal is a Status.
func FuzzServe(f *testing.F) {
	const widgets = "/apis/shop.example.com/v1/namespaces/default/widgets"
	const object = `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"generateName":"f-"},` +
		`"spec":{"size":1}}`
	f.Add("GET", widgets, "limit=1&fieldSelector=spec.color=red", "",
		"application/json;as=Table;v=v1;g=meta.k8s.io", "")
	f.Add("POST", widgets, "dryRun=All&fieldValidation=Strict", "application/json", "", object)
	f.Add("PUT", widgets+"/a", "dryRun=All", "application/yaml", "application/yaml",
		"kind: Widget\nmetadata: {name: a}\n")
	f.Add("PATCH", widgets+"/a", "dryRun=All", "application/json-patch+json", "",
		`[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`)
	f.Add("PATCH", widgets+"/a/status", "dryRun=All", "application/merge-patch+json", "", `{"status":{"phase":"x"}}`)
	f.Add("DELETE", widgets+"/a", "", "", "", `{"dryRun":["All"],"preconditions":{"uid":"x"}}`)
	f.Add("GET", "/apis/shop.example.com/v1/watch/widgets", "resourceVersion=1&allowWatchBookmarks=1", "", "*/*", "")
	f.Add("GET", "/openapi/v3/apis/shop.example.com/v1", "hash=x", "", "application/json", "")
	a, _ := newAPI(f)
	f.Fuzz(func(t *testing.T, method, path, query, contentType, accept, body string) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", strings.NewReader(body))
		r.Method, r.URL = method, &url.URL{Path: path, RawQuery: query}
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		if w.Code < 200 || w.Code > 599 || http.StatusText(w.Code) == "" {
			t.Fatalf("code %d", w.Code)
		}
		if w.Code == http.StatusInternalServerError {
			t.Errorf("500: %s", w.Body)
		}
		if w.Code >= 400 && strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
			var status metav1.Status
			if err := json.Unmarshal(w.Body.Bytes(), &status); err != nil || int(status.Code) != w.Code {
				t.Errorf("%d: %v %s", w.Code, err, w.Body)
			}
		}
	})
}
