package proxy

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
)

// TestAnswersAreNotSniffed: a browser takes an answer of a backend for what it says it is, and not for a page of this
// server's origin because it looks like one. A page that says so stays one, as behind kube-aggregator.
func TestAnswersAreNotSniffed(t *testing.T) {
	both(t, func(t *testing.T, http2 bool) {
		s := pair(t, http2, func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Content-Type"] = r.Header["Accept"]
			w.Header()["X-Content-Type-Options"] = []string{"sniff", "please"}
			fmt.Fprint(w, "<html><script>")
		})
		for _, format := range []string{"text/plain", "application/json", "text/html"} {
			response, body := get(t, s.URL+"/apis/g/v1/things", http.Header{"Accept": {format}})
			if got := response.Header["X-Content-Type-Options"]; !slices.Equal(got, []string{"nosniff"}) {
				t.Errorf("%s: %q", format, got)
			}
			if got := response.Header.Get("Content-Type"); got != format || body != "<html><script>" {
				t.Errorf("%s became %s: %q", format, got, body)
			}
		}
	})
}
