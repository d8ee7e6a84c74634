package testbed

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// Redirecting returns the handler of a server that redirects whoever asks it. The test fails if somebody follows.
func Redirecting(t testing.TB) http.HandlerFunc {
	t.Helper()
	elsewhere := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed: %s %s %v", r.Method, r.URL, r.Header)
	}))
	t.Cleanup(elsewhere.Close)
	return func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	}
}

// Endless is the handler of a server whose answers are the beginning of a JSON document, 500 MB long in all. Its zero
// value is ready for use.
type Endless struct{ sent atomic.Int64 }

// Sent returns the number of bytes that were written.
func (e *Endless) Sent() int64 { return e.sent.Load() }

// ServeHTTP implements http.Handler.
func (e *Endless) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	for chunk := bytes.Repeat([]byte("["), 1<<20); e.Sent() < 500<<20; {
		n, err := w.Write(chunk)
		if e.sent.Add(int64(n)); err != nil {
			return
		}
	}
}
