package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/http/encoder"
	"apigen.dev/runtime/internal/http/negotiation"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/verb"
)

// manyForms are objects whose YAML has all that depends on where it stands: long lines, blocks, quotes, nesting.
func manyForms(n int) []verb.Rendition {
	items := make([]verb.Rendition, n)
	for i := range items {
		text := strings.Repeat(fmt.Sprintf("word%d ", i), i%40)
		data, _ := json.Marshal(map[string]any{
			"metadata": map[string]any{"name": fmt.Sprint("w-",
				i)}, "empty": map[string]any{}, "none": nil, "list": []any{i, text, []any{}},
			"text": text, "lines": strings.ReplaceAll(text, " ",
				"\n"), "items: []": "\nitems: []\n", "blank": " ", "odd": "\u0085\ufeff\x7f" +
				strings.Repeat("é", i%100),
		})
		items[i] = verb.Rendition{Head: `"kind":"Widget","apiVersion":"v1",`, Payload: data[1:]}
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
			fakes[0].page = verb.Page{ResourceVersion: "100", Continue: "a\nitems: []\n", Remaining: &remaining,
				Items: slices.Values(manyForms(n))}
			asJSON := do(a, "GET", base+"/widgets", "", "Accept", "application/json"+as)
			got := do(a, "GET", base+"/widgets", "", "Accept", "application/yaml"+as)
			want, err := encoder.ToYAML((asJSON.Body.Bytes()))
			if err != nil || got.Code != http.StatusOK || got.Header().Get("Content-Type") != negotiation.TypeYAML {
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

// TestJoinedItems are written as they would be one by one, also in YAML and indented.
func TestJoinedItems(t *testing.T) {
	items := manyForms(300)
	var joined []verb.Block
	for few := range slices.Chunk(items, 24) {
		var data []byte
		for _, item := range few {
			data = append(append(data, ",{"...), item.Payload...)
		}
		joined = append(joined, verb.Block{Data: data})
	}
	for _, accept := range []string{negotiation.TypeJSON, negotiation.TypeJSON + ";pretty=1", negotiation.TypeYAML} {
		a, fakes := serve(t, widgets)
		fakes[0].page = verb.Page{ResourceVersion: "100", Items: slices.Values(items)}
		want := do(a, "GET", base+"/widgets", "", "Accept", accept).Body.String()
		fakes[0].page.Blocks, fakes[0].page.Items = joined, nil
		if got := do(a, "GET", base+"/widgets", "", "Accept", accept).Body.String(); got != want {
			t.Errorf("%s: %d bytes, want %d:\n%.2000s", accept, len(got), len(want), got)
		}
	}
}

// TestAListInYAMLIsWrittenAsItComes: what is in memory of it does not grow with it.
func TestAListInYAMLIsWrittenAsItComes(t *testing.T) {
	a, fakes := serve(t, widgets)
	items := manyForms(3000)
	w, most, written := httptest.NewRecorder(), 0, 0
	fakes[0].page = verb.Page{Items: func(yield func(verb.Rendition) bool) {
		read := 0
		for _, item := range items {
			read += len(item.Payload)
			if most = max(most, read-w.Body.Len()); !yield(item) {
				return
			}
		}
		written = w.Body.Len()
	}}
	a.ServeHTTP(w, routedGet(t.Context(), t, base+"/widgets", negotiation.TypeYAML))
	if written < 1<<20 || most > 512<<10 {
		t.Errorf("%d bytes were written before the last item was read, %d were held", written, most)
	}
}

// TestNobodyReadsTheRest: of a list whose client went away, the rest isn't made.
func TestNobodyReadsTheRest(t *testing.T) {
	for _, accept := range []string{negotiation.TypeJSON, negotiation.TypeJSON + ";pretty=1", negotiation.TypeYAML,
		negotiation.TypeCBOR, asTable} {
		a, fakes := serve(t, widgets)
		items, read := manyForms(3000), 0
		fakes[0].page = verb.Page{Items: func(yield func(verb.Rendition) bool) {
			for _, item := range items {
				if read++; !yield(item) {
					return
				}
			}
		}}
		r := routedGet(t.Context(), t, base+"/widgets", accept)
		a.ServeHTTP(gone{httptest.NewRecorder()}, r)
		if read > 1000 {
			t.Errorf("%s: %d of %d items were read", accept, read, len(items))
		}
	}
}

// gone is the writer to a client that went away.
type gone struct{ *httptest.ResponseRecorder }

func (gone) Write([]byte) (int, error) { return 0, http.ErrHandlerTimeout }

// routedGet is a routed GET.
func routedGet(ctx context.Context, t *testing.T, path, accept string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	r.Header.Set("Accept", accept)
	info, err := request.New(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.WithContext(request.WithInfo(r.Context(), info))
}

// TestYAMLTakesItsTurn: who converts to YAML leaves CPUs and memory to others, and waits no longer than its request
// lasts.
func TestYAMLTakesItsTurn(t *testing.T) {
	a, _ := serve(t, widgets)
	all := max(1, int64(runtime.GOMAXPROCS(0)/2))
	if !a.converters.TryAcquire(all) || a.converters.TryAcquire(1) {
		t.Fatalf("not %d at once", all)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, path := range []string{"/widgets", "/namespaces/n/widgets/a"} {
		w := httptest.NewRecorder()
		if a.ServeHTTP(w, routedGet(ended, t, base+path, negotiation.TypeYAML)); w.Code != http.StatusGatewayTimeout {
			t.Errorf("%s: %d, and it isn't its turn", path, w.Code)
		}
	}
	a.converters.Release(all)
	for range 2 * all { // each gives back what it took
		if w := do(a, "GET", base+"/widgets", "", "Accept", negotiation.TypeYAML); w.Code != http.StatusOK {
			t.Errorf("%d %.200s", w.Code, w.Body)
		}
	}
}
