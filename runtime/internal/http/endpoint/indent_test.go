package endpoint

import (
	"net/http"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/verb"
)

// pieces is a client that counts what it is sent, and remembers the largest piece.
type pieces struct {
	discard
	largest int
}

func (p *pieces) Write(b []byte) (int, error) {
	p.largest = max(p.largest, len(b))
	return p.discard.Write(b)
}

// TestPrettyListIsNotWholeInMemory: people's lists are written as they are made, like all others.
func TestPrettyListIsNotWholeInMemory(t *testing.T) {
	a, fakes := serve(t, widgets)
	const n = 5000
	item := rendered(verb.Form{}, strings.Repeat("x", 960), 123456)
	fakes[0].page.Len, fakes[0].page.Items = n, func(yield func(verb.Rendition) bool) {
		for range n {
			if !yield(item) {
				return
			}
		}
	}
	w := &pieces{discard: discard{header: http.Header{}}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/widgets?pretty=1", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	a.ServeHTTP(w, r)
	if w.n < n*1000 || w.largest > frameSize {
		t.Errorf("%d bytes, in pieces of up to %d", w.n, w.largest)
	}
}
