package endpoint

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
)

// indented is what an indenter makes of a document that comes in pieces of n bytes.
func indented(document []byte, n int) string {
	var out bytes.Buffer
	f := &frame{out: &out, buf: make([]byte, 0, 100)}
	d := &indenter{f: f}
	for len(document) > 0 {
		n := min(n, len(document))
		_, _ = d.Write(document[:n])
		document = document[n:]
	}
	f.flush()
	return out.String()
}

// FuzzIndent holds indenter against encoding/json.
func FuzzIndent(f *testing.F) {
	for _, document := range []string{
		`{"a":[1,{"b":null},[],{}],"c":"x\\\"}{[,:","d":-1.5e3}` + "\n", "[]", `{}`, "[ [ ]\n, { } ]  \n", `{ "a" : [ true , false ] }`, `[[[]],""]`,
	} {
		f.Add([]byte(document), 3)
	}
	f.Fuzz(func(t *testing.T, document []byte, n int) {
		var want bytes.Buffer
		trimmed := bytes.TrimLeft(document, " \t\r\n")
		if len(trimmed) == 0 || trimmed[0] != '{' && trimmed[0] != '[' || json.Indent(&want, document, "", "  ") != nil {
			t.Skip() // answers are objects
		}
		if got := indented(document, max(1, n%64)); got != want.String() {
			t.Errorf("%q\n got %q\nwant %q", document, got, want.String())
		}
	})
}

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
	item := rendered(api.Form{}, strings.Repeat("x", 960), 123456)
	fakes[0].page.Len, fakes[0].page.Items = n, func(yield func(api.Rendition) bool) {
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
