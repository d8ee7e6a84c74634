package filter

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
)

// What a handler tells beforehand (103, and what a proxy passes on of it) is not the answer yet.
func TestInformationalAnswers(t *testing.T) {
	observed := make(chan int, 2)
	server := httptest.NewServer(Chain(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		if r.URL.Path == "/panic" {
			panic("x")
		}
		w.WriteHeader(http.StatusTeapot)
	}), Recover(slog.New(slog.NewTextHandler(io.Discard, nil))), RequestInfo(nil, nil), Observe(func(o Observation) {
		observed <- o.Code
	})))
	defer server.Close()
	for path, want := range map[string]int{"/teapot": http.StatusTeapot, "/panic": http.StatusInternalServerError} {
		request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, server.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := server.Client().Do(request)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		} else if response.Body.Close(); response.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, response.StatusCode, want)
		}
		if got := <-observed; got != want {
			t.Errorf("%s was observed as %d, want %d", path, got, want)
		}
	}
}
