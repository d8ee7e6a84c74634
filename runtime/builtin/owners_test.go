package builtin_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/server"
)

// TestDuplicateOwners: a write of a ConfigMap that names owners twice has the warning of kube-apiserver, to its end:
// one UID for each reference that is dropped (dedupOwnerReferencesAndAddWarning of k8s.io/apiserver, which looks at the
// body of a creation and of an update, and at what a patch made).
func TestDuplicateOwners(t *testing.T) {
	s := start(t, func(*server.Config) {})
	const maps = "/api/v1/namespaces/default/configmaps"
	const twice = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","ownerReferences":[` +
		`{"apiVersion":"v1","kind":"Pod","name":"p","uid":"2"},{"apiVersion":"v1","kind":"Pod","name":"q","uid":"1"},` +
		`{"apiVersion":"v1","kind":"Pod","name":"q","uid":"1"},{"apiVersion":"v1","kind":"Pod","name":"p","uid":"2"},` +
		`{"apiVersion":"v1","kind":"Pod","name":"p","uid":"2"}]}}`
	const begin = `299 - ".metadata.ownerReferences contains duplicate entries`
	const end = `; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; ` +
		`please fix your requests; duplicate UID(s) observed: 1, 2, 2"`
	for _, r := range []struct {
		method, path string
		code         int
		want         string
	}{
		{http.MethodPost, "", http.StatusCreated, begin + end},
		{http.MethodPut, "/a", http.StatusOK, begin + end},
		{http.MethodPatch, "/a", http.StatusOK, begin + " after mutating admission happens" + end},
	} {
		request, err := http.NewRequestWithContext(t.Context(), r.method, s.URL+maps+r.path, strings.NewReader(twice))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		if r.method == http.MethodPatch {
			request.Header.Set("Content-Type", "application/merge-patch+json")
		}
		response, err := s.Client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if got := response.Header["Warning"]; response.StatusCode != r.code || !slices.Equal(got, []string{r.want}) {
			t.Errorf("%s: %s\n%q, want\n%q", r.method, response.Status, got, r.want)
		}
	}
}
