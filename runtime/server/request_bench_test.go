package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// BenchmarkRequest measures a GET and a create that pass all filters. Each request has a goroutine of its own, as
// requests of HTTP/2 have: its stack is small when it begins, so that the depth of calls counts.
func BenchmarkRequest(b *testing.B) {
	s, v := newVictim(b, Config{})
	serve := func(method, path, body string, want int) {
		r := httptest.NewRequestWithContext(b.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+adminToken)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.http.Handler.ServeHTTP(w, r)
		}()
		if <-done; w.Code != want {
			b.Fatal(w.Code, w.Body)
		}
	}
	serve(http.MethodPost, v.base, `{"metadata":{"name":"one"}}`, http.StatusCreated)
	b.Run("GET", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			serve(http.MethodGet, v.base+"/one", "", http.StatusOK)
		}
	})
	b.Run("create", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			serve(http.MethodPost, v.base+"?dryRun=All", `{"metadata":{"name":"two"}}`, http.StatusCreated)
		}
	})
	if err := s.close(); err != nil {
		b.Error(err)
	}
}
