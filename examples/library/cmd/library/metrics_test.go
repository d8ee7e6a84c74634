package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"apigen.dev/runtime/apitest"

	"example.com/library/apis"
)

// scrape returns the series of /metrics with their values.
func scrape(t *testing.T, server *apitest.Server) map[string]string {
	t.Helper()
	response, err := server.Client.Get(server.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	series := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if at := strings.LastIndexByte(line, ' '); at > 0 && line[0] != '#' {
			series[line[:at]] = strings.TrimSpace(line[at:])
		}
	}
	return series
}

// The metrics of storage and of the cache have kube-apiserver's names, and their number doesn't depend on the requests
// of clients.
func TestMetrics(t *testing.T) {
	server := apitest.Start(t, apis.Groups()...)
	books := server.URL + "/apis/library.example.com/v1/namespaces/default/books"
	for i := range 3 {
		body := fmt.Sprintf(`{"apiVersion":"library.example.com/v1","kind":"Book","metadata":{"name":"b%d"},`+
			`"spec":{"title":"x"}}`, i)
		response, err := server.Client.Post(books, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusCreated {
			t.Fatalf("create: %s", response.Status)
		}
	}
	get := func(url string) {
		response, err := server.Client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	get(books) // consistent: the cache has all three after it
	first := scrape(t, server)
	labels := `group="library.example.com",resource="books"`
	for series, want := range map[string]string{
		`apiserver_storage_objects{resource="books.library.example.com"}`:                            "3",
		`apiserver_watch_cache_events_received_total{` + labels + `}`:                                "3",
		`apiserver_watch_cache_consistent_read_total{fallback="true",` + labels + `,success="true"}`: "0",
		`apiserver_watch_cache_initializations_total{` + labels + `}`:                                "1",
		`apiserver_watch_cache_resource_version{` + labels + `}`:                                     "5",
		`apiserver_storage_consistency_checks_total{` + labels + `,status="failure"}`:                "0",
		`apigen_watch_cache_ready{` + labels + `}`:                                                   "1",
		// and again
		`etcd_request_duration_seconds_count{group="library.example.com",operation="create",resource="books"}`: "4",
		`etcd_request_errors_total{group="library.example.com",operation="create",resource="books"}`:           "0",
	} {
		if got := first[series]; got != want {
			t.Errorf("%s is %q, want %q", series, got, want)
		}
	}
	// The test made one request; the garbage collector may have made others.
	got := first[`apiserver_watch_cache_consistent_read_total{fallback="false",`+labels+`,success="true"}`]
	if got != "1" && got != "2" {
		t.Errorf("%s consistent reads, want 1 or 2", got)
	}
	for i := range 20 {
		get(fmt.Sprintf("%s/none%d", books, i))
		get(fmt.Sprintf("%s/apis/g%d/v1/things%d", server.URL, i, i))
	}
	second := scrape(t, server)
	for series := range second {
		if _, known := first[series]; !known &&
			(strings.Contains(series, "none") || strings.Contains(series, "things") || strings.Contains(series, "g1")) {
			t.Errorf("clients made %s", series)
		}
	}
	// These were two sorts of requests, of which each has a counter and the buckets of three histograms.
	if more := len(second) - len(first); more > 2*60 {
		t.Errorf("%d series more after some requests", more)
	}
}
