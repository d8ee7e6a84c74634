package server

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// scrape returns the metrics.
func (v *victim) scrape(t *testing.T) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.url+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+adminToken)
	response, err := v.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestMetricNames: what happens in a server is counted under kube-apiserver's names and labels.
func TestMetricNames(t *testing.T) {
	v := startVictim(t)
	v.do(t, "POST", v.base, `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"a"}}`)
	v.do(t, "GET", v.base, "")
	const of = `group="shop.example.com",resource="widgets"`
	// The event of a write of its own reaches a server after the answer to the write.
	await(t, func() bool {
		return strings.Contains(v.scrape(t), `apiserver_storage_events_received_total{`+of+"} 1\n")
	})
	text := v.scrape(t)
	for _, want := range []string{
		`watch_cache_capacity{` + of + `} [1-9]\d*`,
		`apiserver_watch_cache_consistent_read_total{fallback="false",` + of + `,success="true"} [1-9]\d*`,
		`apiserver_watch_cache_consistent_read_total{fallback="false",` + of + `,success="false"} 0`,
		`apiserver_watch_cache_consistent_read_total{fallback="true",` + of + `,success="true"} 0`,
		`apiserver_watch_cache_read_wait_seconds_bucket{` + of + `,le="3"} [1-9]\d*`,
		`apiserver_resource_objects{` + of + `} 1`,
		`apiserver_resource_size_estimate_bytes{` + of + `} [1-9]\d*`,
		`etcd_requests_total{` + strings.Replace(of, ",", `,operation="create",`, 1) + `} [1-9]\d*`,
	} {
		pattern := strings.NewReplacer("{", `\{`, "}", `\}`).Replace(want)
		if !regexp.MustCompile("(?m)^" + pattern + "$").MatchString(text) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
