package builtin_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/apiregistration"
	apiregistrationv1 "apigen.dev/runtime/builtin/apiregistration/v1"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
)

// fickle is a server of shop.example.com/v1 that breaks connections off while it is away. It counts connections.
type fickle struct {
	net.Listener
	away  atomic.Bool
	dials atomic.Int64
}

// Accept implements net.Listener.
func (f *fickle) Accept() (net.Conn, error) {
	for {
		conn, err := f.Listener.Accept()
		f.dials.Add(1)
		if err != nil || !f.away.Load() {
			return conn, err
		}
		_ = conn.(*net.TCPConn).SetLinger(0) // the client sees a reset
		_ = conn.Close()
	}
}

func (f *fickle) start(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.away.Load() {
			panic(http.ErrAbortHandler)
		}
		if r.URL.Path != "/apis/shop.example.com/v1" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"APIResourceList","groupVersion":"shop.example.com/v1","resources":[]}`)
	}))
	f.Listener = s.Listener
	s.Listener = f
	s.TLS = &tls.Config{}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// shared is a storage that outlives the servers that share it.
type shared struct{ storage.Backend }

// Close does nothing.
func (shared) Close() error { return nil }

// startReplica starts one of the servers that share storage, in front of f.
func startReplica(t *testing.T, backend storage.Backend, f *fickle) *apitest.Server {
	t.Helper()
	return startFeatures(t, func(c *server.Config) {
		c.Backend = shared{backend}
		c.Services = func(context.Context, string, string, int32) (string, error) { return f.Addr().String(), nil }
	}, &apiregistration.Feature{})
}

// metricOf returns the lines of a metric of shop.example.com/v1.
func metricOf(t *testing.T, s *apitest.Server, name string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := s.Client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, name+"{") && strings.Contains(line, `name="v1.shop.example.com"`) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// untilTrue waits until a condition holds.
func untilTrue(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatal(what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// TestReplicas: servers that share storage agree on whether another server is available, and don't write its status in
// turns. Each says in its metrics what it sees.
func TestReplicas(t *testing.T) {
	backend := memory.New()
	t.Cleanup(func() { _ = backend.Close() })
	f := &fickle{}
	f.start(t)
	replicas := []*apitest.Server{startReplica(t, backend, f), startReplica(t, backend, f)}
	until(t, replicas[0], http.MethodPost, services, registration("fickle", true, nil), http.StatusCreated)

	settled := func(status, reason, gauge string, code int) string {
		t.Helper()
		for _, s := range replicas {
			available(t, s, status, reason)
			until(t, s, http.MethodGet, "/apis/shop.example.com/v1/widgets", "", code)
			untilTrue(t, "the gauge is not "+gauge, func() bool {
				return metricOf(t, s, "aggregator_unavailable_apiservice") ==
					`aggregator_unavailable_apiservice{name="v1.shop.example.com"} `+gauge
			})
		}
		return send[apiregistrationv1.APIService](t, replicas[0], http.MethodGet, services+"/v1.shop.example.com", "",
			http.StatusOK).ResourceVersion
	}
	before := settled("True", "Passed", "0", http.StatusNotFound)
	if after := settled("True", "Passed", "0", http.StatusNotFound); after != before {
		t.Error("the status of a server that is available was written again")
	}

	f.away.Store(true)
	// The next look would be in 30 seconds; a change of the APIService makes both look at once.
	until(t, replicas[1], http.MethodPatch, services+"/v1.shop.example.com", `{"spec":{"service":{"port":444}}}`,
		http.StatusOK)
	before = settled("False", "FailedDiscoveryCheck", "1", http.StatusServiceUnavailable)
	const looks, attempts = 3, 5
	dials := f.dials.Load()
	untilTrue(t, "nobody looks again", func() bool { return f.dials.Load() > dials+looks*attempts })
	if after := settled("False", "FailedDiscoveryCheck", "1", http.StatusServiceUnavailable); after != before {
		t.Error("the status of a server that is away was written again")
	}
	const counter = "aggregator_unavailable_apiservice_total"
	first, second := metricOf(t, replicas[0], counter), metricOf(t, replicas[1], counter)
	if first+second != counter+`{name="v1.shop.example.com",reason="FailedDiscoveryCheck"} 1` {
		t.Errorf("the transition is counted as %q and %q", first, second)
	}

	f.away.Store(false)
	until(t, replicas[0], http.MethodPatch, services+"/v1.shop.example.com", `{"spec":{"service":{"port":445}}}`,
		http.StatusOK)
	settled("True", "Passed", "0", http.StatusNotFound)
}
