package rbac_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/builtin/authorization"
	"apigen.dev/runtime/storage/embedded"
)

// TestPaths: which paths that are no resources users read who have what everybody has, or a right to read all paths.
// Everybody reads those of kube-apiserver's role system:discovery, and the checks of health by themselves.
func TestPaths(t *testing.T) {
	backend, err := embedded.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := backend.Close(); err != nil {
			t.Error(err)
		}
	})
	r := start(t, backend, (&authorization.Feature{}).Groups()...)
	r.must("POST", roles, `{"metadata":{"name":"paths"},"rules":[{"nonResourceURLs":["*"],"verbs":["get"]}]}`)
	r.must("POST", bindings, bindingOf("paths", "paths", "reader"))
	var root struct{ Paths []string }
	if err := json.Unmarshal(r.must("GET", "/", ""), &root); err != nil || len(root.Paths) < 15 {
		t.Fatalf("%v, %v", root.Paths, err)
	}
	everybody := func(path string) bool {
		_, first, _ := strings.Cut(path, "/")
		first, _, _ = strings.Cut(first, "/")
		return slices.Contains([]string{"api", "apis", "healthz", "livez", "openapi", "readyz", "version"}, first)
	}
	const snapshot = "/storage/snapshot"
	paths := append(root.Paths, "/", "/metrics", "/debug/pprof/", "/debug/pprof/heap", "/flagz", "/statusz", "/configz",
		"/logs", "/nothing", "/apis/nothing", "/openapi/v3/apis/rbac.authorization.k8s.io/v1", "/healthz/ping/x")
	paths = append(paths, snapshot, "/storage/status", "/storage/defrag")
	for _, path := range paths {
		served := r.code("admin", "GET", path, "")
		if served == http.StatusForbidden || served == http.StatusUnauthorized {
			t.Errorf("%s: system:masters gets %d", path, served)
		}
		for user, allowed := range map[string]bool{
			"ann": everybody(path), "reader": path != snapshot,
		} {
			want := http.StatusForbidden
			if allowed {
				want = served
			}
			if got := r.code(user, "GET", path, ""); got != want {
				t.Errorf("%s as %s: %d, want %d", path, user, got, want)
			}
			if got := r.code(user, "POST", path, "{}"); got != http.StatusForbidden && !isHealth(path) {
				t.Errorf("POST %s as %s: %d", path, user, got)
			}
		}
	}
}

// isHealth reports whether a path is that of a check of health, which changes nothing whatever the verb is.
func isHealth(path string) bool {
	return slices.ContainsFunc([]string{"/healthz", "/livez", "/readyz"}, func(prefix string) bool {
		return strings.HasPrefix(path, prefix)
	})
}
