package builtin_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"apigen.dev/runtime/builtin/apiregistration"
	"apigen.dev/runtime/server"
)

// visitors is a server of widgets, which records who asked for them.
type visitors struct {
	mu   sync.Mutex // guards seen
	seen map[string]string
}

func (v *visitors) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/apis/shop.example.com/v1":
		_, _ = io.WriteString(w, `{"kind":"APIResourceList","groupVersion":"shop.example.com/v1","resources":[
{"name":"widgets","kind":"Widget","namespaced":true,
"verbs":["get","list","watch","patch","delete","deletecollection"]}]}`)
		return
	case !strings.HasSuffix(r.URL.Path, "/widgets"):
		http.NotFound(w, r)
		return
	}
	v.mu.Lock()
	groups := strings.Join(r.Header["X-Remote-Group"], ",")
	v.seen[r.Method+" "+r.URL.Path] = r.Header.Get("X-Remote-User") + " " + groups
	deleted := v.seen["DELETE "+r.URL.Path] != ""
	v.mu.Unlock()
	if deleted || !strings.Contains(r.URL.Path, "/namespaces/") {
		_, _ = io.WriteString(w, `{"metadata":{"resourceVersion":"1"},"items":[]}`)
		return
	}
	_, _ = io.WriteString(w, `{"metadata":{"resourceVersion":"1"},
"items":[{"metadata":{"name":"a","namespace":"ns"}}]}`)
}

func (v *visitors) who(request string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.seen[request]
}

// TestControllersElsewhere: what a server does of itself in other servers, it does as the controllers of
// kube-controller-manager, which may do that and nothing else.
func TestControllersElsewhere(t *testing.T) {
	v := &visitors{seen: map[string]string{}}
	behind := httptest.NewTLSServer(v)
	t.Cleanup(behind.Close)
	front := startFeatures(t, func(c *server.Config) {
		c.Services = func(context.Context, string, string, int32) (string, error) {
			return behind.Listener.Addr().String(), nil
		}
	}, &apiregistration.Feature{})
	until(t, front, http.MethodPost, services, registration("visitors", true, nil), http.StatusCreated)
	available(t, front, "True", "Passed")
	until(t, front, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"ns"}}`, http.StatusCreated)
	until(t, front, http.MethodDelete, "/api/v1/namespaces/ns", "", http.StatusOK)
	until(t, front, http.MethodGet, "/api/v1/namespaces/ns", "", http.StatusNotFound)
	const (
		groups     = " system:serviceaccounts,system:serviceaccounts:kube-system,system:authenticated"
		namespaces = "system:serviceaccount:kube-system:namespace-controller" + groups
		garbage    = "system:serviceaccount:kube-system:generic-garbage-collector" + groups
		collection = "/apis/shop.example.com/v1/namespaces/ns/widgets"
	)
	untilTrue(t, "the collector doesn't list widgets", func() bool {
		return v.who("GET /apis/shop.example.com/v1/widgets") != ""
	})
	for request, want := range map[string]string{
		"GET " + collection: namespaces, "DELETE " + collection: namespaces,
		"GET /apis/shop.example.com/v1/widgets": garbage,
	} {
		if got := v.who(request); got != want {
			t.Errorf("%s: asked as %q, want %q", request, got, want)
		}
	}
}
