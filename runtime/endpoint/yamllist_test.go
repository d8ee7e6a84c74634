package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/registry"
	"sigs.k8s.io/yaml"
)

// manyForms are objects whose YAML has all that depends on where it stands: long lines, blocks, quotes, nesting.
func manyForms(n int) []api.Rendition {
	items := make([]api.Rendition, n)
	for i := range items {
		text := strings.Repeat(fmt.Sprintf("word%d ", i), i%40)
		data, _ := json.Marshal(map[string]any{
			"metadata": map[string]any{"name": fmt.Sprint("w-", i)}, "empty": map[string]any{}, "none": nil, "list": []any{i, text, []any{}},
			"text": text, "lines": strings.ReplaceAll(text, " ", "\n"), "items: []": "\nitems: []\n", "blank": " ", "odd": "\u0085\ufeff\x7f" + strings.Repeat("é", i%100),
		})
		items[i] = api.Rendition{Head: `"kind":"Widget","apiVersion":"v1",`, Payload: data[1:]}
	}
	return items
}

// TestAListInYAMLIsTheYAMLOfTheList: it is converted in pieces, and is what it would be as a whole.
func TestAListInYAMLIsTheYAMLOfTheList(t *testing.T) {
	const list, table, partial = "", ";as=Table;v=v1;g=meta.k8s.io", ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
	for _, n := range []int{0, 1, 2, 30, 600} {
		for _, as := range []string{list, table, partial} {
			a, fakes := serve(t, widgets)
			remaining := int64(7)
			fakes[0].page = registry.Page{ResourceVersion: "100", Continue: "a\nitems: []\n", Remaining: &remaining, Items: slices.Values(manyForms(n))}
			asJSON := do(a, "GET", base+"/widgets", "", "Accept", "application/json"+as)
			got := do(a, "GET", base+"/widgets", "", "Accept", "application/yaml"+as)
			want, err := yaml.JSONToYAML(escapeForYAML(asJSON.Body.Bytes()))
			if err != nil || got.Code != http.StatusOK || got.Header().Get("Content-Type") != typeYAML {
				t.Fatal(err, got.Code, got.Header())
			}
			if !bytes.Equal(got.Body.Bytes(), want) {
				t.Errorf("%d items%s: got %d bytes, want %d:\n%.2000s", n, as, got.Body.Len(), len(want), got.Body)
			}
			if length := got.Header().Get("Content-Length"); n < 3 && length != fmt.Sprint(len(want)) {
				t.Errorf("Content-Length: %q", length)
			}
		}
	}
}

// TestAListInYAMLIsWrittenAsItComes: what is in memory of it does not grow with it.
func TestAListInYAMLIsWrittenAsItComes(t *testing.T) {
	a, fakes := serve(t, widgets)
	items := manyForms(3000)
	w, most, written := httptest.NewRecorder(), 0, 0
	fakes[0].page = registry.Page{Items: func(yield func(api.Rendition) bool) {
		read := 0
		for _, item := range items {
			read += len(item.Payload)
			if most = max(most, read-w.Body.Len()); !yield(item) {
				return
			}
		}
		written = w.Body.Len()
	}}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, base+"/widgets", nil)
	r.Header.Set("Accept", typeYAML)
	info, err := ParseRequestInfo(r)
	if err != nil {
		t.Fatal(err)
	}
	a.ServeHTTP(w, r.WithContext(WithRequestInfo(r.Context(), info)))
	if written < 1<<20 || most > 512<<10 {
		t.Errorf("%d bytes were written before the last item was read, %d were held", written, most)
	}
}

// TestNobodyReadsTheRest: a list in YAML, which is dear, is not converted for a client that went away.
func TestNobodyReadsTheRest(t *testing.T) {
	a, fakes := serve(t, widgets)
	items, read := manyForms(3000), 0
	fakes[0].page = registry.Page{Items: func(yield func(api.Rendition) bool) {
		for _, item := range items {
			if read++; !yield(item) {
				return
			}
		}
	}}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, base+"/widgets", nil)
	r.Header.Set("Accept", typeYAML)
	info, err := ParseRequestInfo(r)
	if err != nil {
		t.Fatal(err)
	}
	a.ServeHTTP(gone{httptest.NewRecorder()}, r.WithContext(WithRequestInfo(r.Context(), info)))
	if read > 1000 {
		t.Errorf("%d of %d items were read", read, len(items))
	}
}

// gone is the writer to a client that went away.
type gone struct{ *httptest.ResponseRecorder }

func (gone) Write([]byte) (int, error) { return 0, http.ErrHandlerTimeout }

// TestLargeYAMLTakesItsTurn: converting a large object to YAML is weighed as reading one is.
func TestLargeYAMLTakesItsTurn(t *testing.T) {
	a, fakes := serve(t, widgets)
	large, _ := json.Marshal(map[string]any{"data": strings.Repeat("x", freeBody)})
	fakes[0].object = api.Rendition{Payload: large[1:]}
	if err := a.bodies.Acquire(t.Context(), maxBodyBytes); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(ended, http.MethodGet, base+"/namespaces/n/widgets/a", nil)
	r.Header.Set("Accept", typeYAML)
	info, err := ParseRequestInfo(r)
	if err != nil {
		t.Fatal(err)
	}
	r = r.WithContext(WithRequestInfo(r.Context(), info))
	w := httptest.NewRecorder()
	if a.ServeHTTP(w, r); w.Code != http.StatusGatewayTimeout {
		t.Errorf("%d while there is no room", w.Code)
	}
	a.bodies.Release(maxBodyBytes)
	for range 3 { // each gives back what it took
		if w := do(a, "GET", base+"/namespaces/n/widgets/a", "", "Accept", typeYAML); w.Code != http.StatusOK {
			t.Errorf("%d %.200s", w.Code, w.Body)
		}
	}
	if !a.bodies.TryAcquire(maxBodyBytes) {
		t.Error("room was not given back")
	}
}
