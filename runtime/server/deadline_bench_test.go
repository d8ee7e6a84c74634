package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"apigen.dev/runtime/internal/http/gather"
)

// BenchmarkAnswerDeadline compares small answers of a server without deadlines with those of one that has them. The
// handler does nothing else, so that a request of the API costs less in proportion.
func BenchmarkAnswerDeadline(b *testing.B) {
	small := make([]byte, 1<<10)
	for _, protocol := range []string{"HTTP1", "HTTP2"} {
		for _, c := range []struct {
			name    string
			timeout time.Duration
		}{{"none", 0}, {"deadline", time.Minute}} {
			b.Run(protocol+"/"+c.name, func(b *testing.B) {
				server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Length", "1024")
					_, _ = w.Write(small)
				}))
				server.Listener = gather.Listener{Listener: server.Listener}
				server.Config.WriteTimeout = c.timeout
				server.Config.HTTP2 = &http.HTTP2Config{WriteByteTimeout: c.timeout}
				server.EnableHTTP2 = protocol == "HTTP2"
				server.StartTLS()
				defer server.Close()
				client := server.Client()
				b.ReportAllocs()
				for b.Loop() {
					response, err := client.Get(server.URL)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := io.Copy(io.Discard, response.Body); err != nil {
						b.Fatal(err)
					}
					response.Body.Close()
				}
			})
		}
	}
}
