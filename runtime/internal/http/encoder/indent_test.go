package encoder

import (
	"bytes"
	"encoding/json"
	"testing"
)

// indented returns what an indenter writes of a document that it gets in pieces of n bytes.
func indented(document []byte, n int) string {
	var out bytes.Buffer
	f := &Frame{out: &out, buf: make([]byte, 0, 100)}
	d := &indenter{f: f}
	for len(document) > 0 {
		n := min(n, len(document))
		_, _ = d.Write(document[:n])
		document = document[n:]
	}
	f.Flush()
	return out.String()
}

// FuzzIndent compares the indenter with encoding/json.
func FuzzIndent(f *testing.F) {
	for _, document := range []string{
		`{"a":[1,{"b":null},[],{}],"c":"x\\\"}{[,:","d":-1.5e3}` + "\n", "[]", `{}`,
		"[ [ ]\n, { } ]  \n", `{ "a" : [ true , false ] }`, `[[[]],""]`,
	} {
		f.Add([]byte(document), 3)
	}
	f.Fuzz(func(t *testing.T, document []byte, n int) {
		var want bytes.Buffer
		trimmed := bytes.TrimLeft(document, " \t\r\n")
		if len(trimmed) == 0 || trimmed[0] != '{' && trimmed[0] != '[' ||
			json.Indent(&want, document, "", "  ") != nil {
			t.Skip() // answers are objects
		}
		if got := indented(document, max(1, n%64)); got != want.String() {
			t.Errorf("%q\n got %q\nwant %q", document, got, want.String())
		}
	})
}
