package main

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// serve returns a server that answers with a handler over HTTP/2.
func serve(t *testing.T, handler http.HandlerFunc) *server {
	t.Helper()
	fake := httptest.NewUnstartedServer(handler)
	fake.EnableHTTP2 = true
	fake.StartTLS()
	t.Cleanup(fake.Close)
	roots := x509.NewCertPool()
	roots.AddCert(fake.Certificate())
	return &server{name: "fake", stored: "v1beta1", other: "v1alpha1", url: fake.URL, tls: &tls.Config{RootCAs: roots}}
}

// TestListCheck: a list that lacks items, or isn't compressed, is not a basis for a row.
func TestListCheck(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var out io.Writer = w
		if r.Header.Get("Accept-Encoding") == "gzip" && r.FormValue("plain") == "" {
			w.Header().Set("Content-Encoding", "gzip")
			compressed := gzip.NewWriter(w)
			defer compressed.Close()
			out = compressed
		}
		metadata := `{}`
		if r.FormValue("limit") != "" && r.FormValue("continue") == "" {
			metadata = `{"continue":"more"}`
		}
		_, _ = io.WriteString(out, `{"metadata":`+metadata+`,"items":[{},{}]}`)
	})
	for _, test := range []struct {
		listing listing
		objects int
		wrong   string
	}{
		{listing{}, 2, ""}, {listing{}, 3, "2 items, not 3"},
		{listing{query: "limit=2"}, 4, ""}, {listing{query: "limit=2"}, 2, "4 items, not 2"},
		{listing{query: "limit=2", gzip: true}, 4, ""}, {listing{gzip: true}, 1, "2 items, not 1"},
		{listing{query: "plain=1", gzip: true}, 2, "not gzip"},
		{listing{share: 100}, 200, ""}, {listing{share: 100}, 201, "2 items, not 3"},
	} {
		err := list("LIST", 1, test.listing).verify(t.Context(), s, options{objects: test.objects})
		if (err != nil) != (test.wrong != "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// TestFollow: a watch that the server ends goes on at the version of its last event, and an error ends it.
func TestFollow(t *testing.T) {
	var requests atomic.Int32
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		version := r.FormValue("resourceVersion")
		if requests.Add(1) > 3 {
			version = "too many requests"
		}
		switch version {
		case "5":
			_, _ = io.WriteString(w, `{"type":"MODIFIED","object":{"metadata":{"resourceVersion":"6"}}}`+"\n"+
				`{"type":"MODIFIED","object":{"metadata":{"resourceVersion":"9"}}}`+"\n")
		case "9":
			_, _ = io.WriteString(w, `{"type":"MODIFIED","object":{"metadata":{"resourceVersion":"10"}}}`+"\n")
		default:
			_, _ = io.WriteString(w, `{"type":"ERROR","object":{"code":410}}`+"\n")
		}
	})
	events := make(chan struct{}, 10)
	if err := s.newClient().follow(t.Context(), "5", events); err == nil || !strings.Contains(err.Error(), "410") {
		t.Error(err)
	}
	if len(events) != 3 {
		t.Errorf("%d events", len(events))
	}
}

// TestWatchListCheck: a stream without the bookmark, or with too few objects, is not a basis for a row.
func TestWatchListCheck(t *testing.T) {
	body := `{"type":"ADDED","object":{}}` + "\n"
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
	r := watchList("WatchList", false)
	if err := r.verify(t.Context(), s, options{objects: 1}); !errors.Is(err, io.EOF) {
		t.Errorf("without a bookmark: %v", err)
	}
	body += `{"type":"BOOKMARK","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n"
	if err := r.verify(t.Context(), s, options{objects: 1}); err != nil {
		t.Error(err)
	}
	if err := r.verify(t.Context(), s, options{objects: 2}); err == nil {
		t.Error("one object of two is enough")
	}
}

// TestConcurrently: all operations run once, and the first error is returned.
func TestConcurrently(t *testing.T) {
	clients := (&server{tls: &tls.Config{}}).newClients(3)
	seen := make([]int, 50)
	if err := concurrently(t.Context(), clients, len(seen), func(_ context.Context, _ *client, i int) error {
		seen[i]++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for i, n := range seen {
		if n != 1 {
			t.Errorf("operation %d ran %d times", i, n)
		}
	}
	failure := errors.New("failed")
	if err := concurrently(t.Context(), clients, 50, func(context.Context, *client, int) error {
		return failure
	}); !errors.Is(err, failure) {
		t.Error(err)
	}
}
