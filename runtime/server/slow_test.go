package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/http/endpoint"
	"apigen.dev/runtime/internal/state/cache"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
)

const slowPath = "/apis/shop.example.com/v1/namespaces/default/widgets"

// A watcher that doesn't read is passed by the window of history. When it reads again it is told what was on its way,
// in order, and then that it must begin anew; one that reads, on the same connection, misses nothing.
func TestSlowWatcher(t *testing.T) {
	const (
		window  = 8
		updates = 60      // of which the connection takes the first 4 MiB: the stream's flow control
		size    = 1 << 17 // of an event
	)
	backend := memory.New()
	t.Cleanup(func() { backend.Close() })
	server := serveWidgets(t, backend, cache.Window{Min: window, Max: window})
	call := func(method, url, contentType, body string) int64 {
		t.Helper()
		w, code := exchange(t, server, method, url, contentType, body)
		if code != http.StatusOK && code != http.StatusCreated {
			t.Fatalf("%s %s: %d", method, url, code)
		}
		return w
	}
	call("POST", slowPath, "application/json",
		`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"a"}}`)
	begin := call("GET", slowPath, "", "") // a list, so that the cache has come so far
	slow, fast := watchWidgets(t, server, begin), watchWidgets(t, server, begin)
	var written []int64
	for i := range updates {
		color := fmt.Sprintf("%d-%s", i, strings.Repeat("x", size))
		written = append(written, call("PATCH", slowPath+"/a", "application/merge-patch+json",
			`{"spec":{"color":"`+color+`"}}`))
		e, err := fast()
		if err != nil || e.Type != "MODIFIED" || e.Object.revision(t) != written[i] || e.Object.Spec.Color != color {
			t.Fatalf("the fast watcher was told %s at revision %s (%v), want update %d at %d", e.Type,
				e.Object.Metadata.ResourceVersion, err, i, written[i])
		}
	}
	told := 0
	e, err := slow()
	for ; err == nil && e.Type == "MODIFIED"; e, err = slow() {
		if told == updates || e.Object.revision(t) != written[told] {
			t.Fatalf("the slow watcher was told revision %s as its event %d, want %v",
				e.Object.Metadata.ResourceVersion, told, written)
		}
		told++
	}
	if err != nil || e.Type != "ERROR" || e.Object.Code != http.StatusGone || e.Object.Reason != "Expired" {
		t.Errorf("after %d events the slow watcher was told %s %d %s, %v, want ERROR 410 Expired", told, e.Type,
			e.Object.Code, e.Object.Reason, err)
	}
	if told == 0 || told > updates-window {
		t.Fatalf("the slow watcher was told %d events of %d", told, updates)
	}
	if e, err := slow(); !errors.Is(err, io.EOF) {
		t.Errorf("after the ERROR came %s %v, want the end", e.Type, err)
	}
	// What is behind the window can still be had of the backend, until that has dropped it.
	resumed := watchWidgets(t, server, written[told-1])
	for i := told; i < updates; i++ {
		if e, err := resumed(); err != nil || e.Type != "MODIFIED" || e.Object.revision(t) != written[i] {
			t.Fatalf("a watch from where the slow one had come was told %s at revision %s, %v, want %d", e.Type,
				e.Object.Metadata.ResourceVersion, err, written[i])
		}
	}
	if err := backend.Compact(t.Context(), written[updates-1]); err != nil {
		t.Fatal(err)
	}
	// This is known before the first event: the answer itself may be the 410.
	if e, err := watchWidgets(t, server, written[told-1])(); err != nil ||
		e.Object.Code+e.Code != http.StatusGone || e.Object.Reason+e.Reason != "Expired" {
		t.Errorf("after a compaction a watch from there was told %+v %v, want 410 Expired", e, err)
	}
}

// serveWidgets serves the kind Widget by HTTP/2 over TLS.
func serveWidgets(t *testing.T, backend storage.Backend, window cache.Window) *httptest.Server {
	t.Helper()
	group := endpoint.Group{Group: widgets()}
	for _, resource := range group.Resources {
		handle, err := resource.Open(t.Context(), registry.Config{Backend: backend, Prefix: "/registry",
			Window: window, Verify: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { handle.Close() })
		// A watch that begins before the cache is filled follows the backend, whose history has no window.
		await(t, func() bool { return handle.Ready() == nil })
		group.Handles = append(group.Handles, handle)
	}
	api, err := endpoint.New(endpoint.Config{Groups: []endpoint.Group{group}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(api)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// heard is an event of a watch, or the status that answers it.
type heard struct {
	Type, Reason string
	Code         int
	Object       heardObject
}

type heardObject struct {
	Metadata struct {
		ResourceVersion string
	}
	Spec   widgetSpec
	Code   int
	Reason string
}

func (o heardObject) revision(t *testing.T) (n int64) {
	t.Helper()
	if _, err := fmt.Sscan(o.Metadata.ResourceVersion, &n); err != nil {
		t.Fatalf("resourceVersion %q: %v", o.Metadata.ResourceVersion, err)
	}
	return n
}

// exchange makes a request, and returns the revision of the answer.
func exchange(t *testing.T, server *httptest.Server, method, url, contentType, body string) (revision int64, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, server.URL+url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var object heardObject
	if err := json.NewDecoder(response.Body).Decode(&object); err != nil {
		t.Fatal(err)
	}
	return object.revision(t), response.StatusCode
}

// watchWidgets watches, and returns what reads the next event. Nothing is read before.
func watchWidgets(t *testing.T, server *httptest.Server, after int64) func() (heard, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s%s?watch=1&resourceVersion=%d",
		server.URL, slowPath, after), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(request)
	if err != nil || response.ProtoMajor != 2 {
		t.Fatalf("%v %v", response, err)
	}
	t.Cleanup(func() { response.Body.Close() })
	decoder := json.NewDecoder(response.Body)
	return func() (e heard, err error) {
		err = decoder.Decode(&e)
		return e, err
	}
}
