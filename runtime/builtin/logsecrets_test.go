package builtin_test

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"apigen.dev/runtime/server"
)

// logged is what a server logs.
type logged struct {
	mu   sync.Mutex // guards text
	text strings.Builder
}

func (l *logged) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

// TestNoSecretsInLog: the log has no byte of a Secret's data, of a token, or of any object, at any verbosity.
func TestNoSecretsInLog(t *testing.T) {
	log := &logged{}
	t.Cleanup(func() { // after the server has ended
		text := log.text.String()
		if lines := strings.Count(text, "msg=HTTP "); lines < 60 {
			t.Errorf("the log has %d requests", lines)
		}
		for line := range strings.Lines(text) {
			if parts := revealed(line); parts != nil {
				t.Errorf("the log has %q: %s", parts, line)
			}
		}
	})
	s := startConfidential(t, func(c *server.Config) {
		c.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.Level(-100)}))
	})
	for _, request := range append(secretRequests(), tokenRequests()...) {
		request.send(t, s)
	}
	for _, credentials := range []string{"Bearer " + confidential, "Basic " + encoded, confidential} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/api", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", credentials)
		response, err := s.Client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
	}
}
