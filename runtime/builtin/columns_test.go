package builtin_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestCreatedAt: the column that kube-apiserver gives kinds without columns of their own shows a time, not an age.
func TestCreatedAt(t *testing.T) {
	s := complete(t)
	const ranges, definitions = "/api/v1/namespaces/default/limitranges", "/apis/apiextensions.k8s.io/v1/" +
		"customresourcedefinitions"
	until(t, s, http.MethodPost, ranges, `{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"a"},
"spec":{"limits":[{"type":"Container","max":{"cpu":"1"}}]}}`, http.StatusCreated)
	until(t, s, http.MethodPost, definitions, gadgets, http.StatusCreated)
	for _, path := range []string{ranges, definitions} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
		response, err := s.Client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		var table metav1.Table
		err = json.NewDecoder(response.Body).Decode(&table)
		if _ = response.Body.Close(); err != nil || len(table.Rows) != 1 || len(table.Rows[0].Cells) != 2 {
			t.Fatalf("%s: %+v, %v", path, table, err)
		}
		text, _ := table.Rows[0].Cells[1].(string)
		if _, err := time.Parse(time.RFC3339, text); err != nil || table.ColumnDefinitions[1].Name != "Created At" {
			t.Errorf("%s: %s is %q", path, table.ColumnDefinitions[1].Name, text)
		}
	}
}

// TestTablesWithoutObjects: a Table of one object has its resourceVersion, with includeObject=None, too, whether it
// answers a read, a write or a watch.
func TestTablesWithoutObjects(t *testing.T) {
	s := complete(t)
	until(t, s, http.MethodGet, "/api/v1/namespaces/default", "", http.StatusOK)
	const maps = "/api/v1/namespaces/default/configmaps"
	const object = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"],\"object\":"}}`
	for _, r := range []struct {
		method, path, body string
		code               int
		event              bool
	}{
		{http.MethodPost, maps + "?", object, http.StatusCreated, false},
		{http.MethodGet, maps + "/a?", "", http.StatusOK, false},
		{http.MethodPatch, maps + "/a?", `{"data":{"b":"c"}}`, http.StatusOK, false},
		{http.MethodPut, maps + "/a?", object, http.StatusOK, false},
		{http.MethodGet, maps + "?watch=true&fieldSelector=metadata.name%3Da&", "", http.StatusOK, true},
	} {
		for _, version := range []string{"v1", "v1beta1"} {
			for _, include := range []string{"None", "Metadata", "Object"} {
				if r.method == http.MethodPost && version+include != "v1None" {
					continue
				}
				ctx, cancel := context.WithCancel(t.Context())
				path := s.URL + r.path + "includeObject=" + include
				request, err := http.NewRequestWithContext(ctx, r.method, path, strings.NewReader(r.body))
				if err != nil {
					t.Fatal(err)
				}
				request.Header.Set("Accept", "application/json;as=Table;g=meta.k8s.io;v="+version)
				request.Header.Set("Content-Type", map[bool]string{true: "application/merge-patch+json",
					false: "application/json"}[r.method == http.MethodPatch])
				response, err := s.Client.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				var answer struct {
					metav1.Table
					Object metav1.Table // of an event
				}
				err = json.NewDecoder(response.Body).Decode(&answer)
				cancel()
				_ = response.Body.Close()
				table := answer.Table
				if r.event {
					table = answer.Object
				}
				if err != nil || response.StatusCode != r.code || table.ResourceVersion == "" || len(table.Rows) != 1 {
					t.Errorf("%s %s: %s, %+v, %v", r.method, path, response.Status, answer, err)
				} else if raw := table.Rows[0].Object.Raw; (raw == nil) != (include == "None") {
					t.Errorf("%s %s has the object %s", r.method, path, raw)
				}
			}
		}
	}
}

// TestReviewsHaveNoTable: a kind that is only created has no Table, with or without storage.
func TestReviewsHaveNoTable(t *testing.T) {
	s := complete(t)
	until(t, s, http.MethodGet, "/api/v1/namespaces/default/serviceaccounts/default", "", http.StatusOK)
	for path, review := range map[string]string{
		"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews": `{"kind":"SelfSubjectAccessReview",
"apiVersion":"authorization.k8s.io/v1","spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}`,
		"/apis/authentication.k8s.io/v1/selfsubjectreviews": `{"kind":"SelfSubjectReview",
"apiVersion":"authentication.k8s.io/v1"}`,
		"/api/v1/namespaces/default/serviceaccounts/default/token": `{"kind":"TokenRequest",
"apiVersion":"authentication.k8s.io/v1","spec":{}}`,
	} {
		for accept, want := range map[string]int{
			"application/json;as=Table;v=v1;g=meta.k8s.io":                  http.StatusNotAcceptable,
			"application/json;as=Table;v=v1;g=meta.k8s.io,application/json": http.StatusCreated,
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(review))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", accept)
			response, err := s.Client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			if _ = response.Body.Close(); response.StatusCode != want {
				t.Errorf("%s as %s: %s", path, accept, response.Status)
			}
		}
	}
}
