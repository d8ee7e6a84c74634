package server

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/internal/http/filter"
	"apigen.dev/runtime/internal/testbed"
)

// TestIncomplete: while hooks may still install resources, nobody is told that a resource doesn't exist.
func TestIncomplete(t *testing.T) {
	finish := make(chan struct{})
	h := startHooked(t, Config{Contribution: Contribution{DynamicAPIs: new(DynamicAPIs)}},
		Hook{Name: "a", PostStart: func(context.Context) error { <-finish; return nil }})
	const later, there = "/apis/later.example.com/v1/things", "/apis/shop.example.com/v1/widgets"
	unknown := []string{later, "/apis/later.example.com", "/apis/later.example.com/v1", "/nope"}
	for _, path := range unknown {
		code, body := h.ask(t, http.MethodGet, path, nil)
		if code != http.StatusServiceUnavailable || !strings.Contains(body, `"retryAfterSeconds":5`) ||
			!strings.Contains(body, "before all known HTTP paths have been installed") {
			t.Errorf("%s before the hook: %d %s", path, code, body)
		}
	}
	for _, path := range []string{there, "/apis", "/apis/", "/openapi/v3", "/version"} {
		if code, body := h.ask(t, http.MethodGet, path, nil); code != http.StatusOK {
			t.Errorf("%s before the hook: %d %s", path, code, body)
		}
	}
	if code, _ := h.ask(t, http.MethodGet, "/apis/shop.example.com/v1/namespaces/x/widgets/none", nil); code != 404 {
		t.Errorf("an object that isn't there: %d", code)
	}
	close(finish)
	<-h.hooks[0].ended
	for _, path := range unknown {
		if code, body := h.ask(t, http.MethodGet, path, nil); code != http.StatusNotFound {
			t.Errorf("%s after the hook: %d %s", path, code, body)
		}
	}
	h.end(t)
}

// TestShutdownDelay: after it was told to end, a server serves for a while, and clients of HTTP/2 learn to connect
// anew, while their watches go on.
func TestShutdownDelay(t *testing.T) { synctest.Test(t, testShutdownDelay) }

func testShutdownDelay(t *testing.T) {
	const delay, spread = 2 * time.Second, time.Second
	pipes := testbed.NewPipes()
	config := Config{Serving: Serving{Listener: pipes, ShutdownDelay: delay, Ending: filter.Ending{Spread: spread}}}
	victim, ended := startDelayed(t, config)
	transport := &http.Transport{DialContext: pipes.Dial, TLSClientConfig: victim.tls, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	connections := map[*tls.Conn]bool{}
	get := func(path string) *http.Response {
		trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
			connections[info.Conn.(*tls.Conn)] = true
		}}
		ctx := httptrace.WithClientTrace(t.Context(), trace)
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://127.0.0.1"+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+adminToken)
		response, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		return response
	}
	watch := get(victim.base + "?watch=true")
	defer watch.Body.Close()
	ended.stop()
	synctest.Wait()
	began := time.Now()
	for _, step := range []struct {
		after       time.Duration
		connections int
	}{
		{0, 1},
		{delay/2 - 1, 1}, // before balancers noticed, nobody is asked to connect anew
		{delay/2 + 1, 1}, // the answer of this request asks
		{delay - 1, 2},
	} {
		time.Sleep(time.Until(began.Add(step.after)))
		for _, r := range []struct {
			path string
			want int
		}{{"/readyz", http.StatusInternalServerError}, {victim.base, http.StatusOK}} {
			response := get(r.path)
			if response.Body.Close(); response.StatusCode != r.want {
				t.Errorf("%s after %s: %d", r.path, step.after, response.StatusCode)
			}
			synctest.Wait() // until the client has read what came with the answer
		}
		if len(connections) != step.connections {
			t.Errorf("after %s: %d connections, want %d", step.after, len(connections), step.connections)
		}
	}
	if _, err := io.Copy(io.Discard, watch.Body); err != nil {
		t.Errorf("the watch ended with %v", err)
	}
	if lived := time.Since(began); lived < delay || lived >= delay+spread {
		t.Errorf("the watch ended after %s", lived)
	}
	if err := <-ended.err; err != nil {
		t.Error(err)
	}
}

// ending stops a server, and has its error.
type ending struct {
	stop context.CancelFunc
	err  chan error
}

// startDelayed is startVictim for a server that the test ends itself.
func startDelayed(t *testing.T, config Config) (*victim, ending) {
	t.Helper()
	s, v := newVictim(t, config)
	ctx, stop := context.WithCancel(context.Background())
	e := ending{stop, make(chan error, 1)}
	gone := make(chan struct{})
	go func() {
		e.err <- s.Run(ctx)
		close(gone)
	}()
	t.Cleanup(func() { // another test may look at what runs
		stop()
		v.client.CloseIdleConnections()
		<-gone
	})
	return v, e
}

// dial opens a connection of HTTP/2.
func (v *victim) dial(t *testing.T) *tls.Conn {
	t.Helper()
	config := v.tls.Clone()
	config.NextProtos = []string{"h2"}
	connection, err := tls.Dial("tcp", v.host, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	if err := connection.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	return connection
}
