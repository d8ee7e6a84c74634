package endpoint

import (
	"net/url"
	"reflect"
	"strings"
	"testing"
)

// FuzzQueryOf: options are those that net/url reads, also in a map that another request had.
func FuzzQueryOf(f *testing.F) {
	for _, query := range []string{
		"", "a=1", "a=1&a=2&b", "=x", "&&", "a;b=1&c=2", "a%20b=c%2fd+e", "a=%zz&b=1", "%zz=1", "a==", "a=1&",
		strings.Repeat("a=1&", maxQuery),
	} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		u := &url.URL{RawQuery: query}
		for range 2 {
			got := queryOf(u)
			if want := u.Query(); !reflect.DeepEqual(got, want) {
				t.Fatalf("%q has %v, want %v", query, got, want)
			}
			req := &resourceRequest{resource: &resource{}, query: got}
			if req.releaseQuery(); req.query != nil {
				t.Fatal("the request still has its options")
			}
		}
	})
}
