package builtin_test

import (
	"encoding/json"
	"net/http"
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
