package server

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkRefusedRequest measures what the server does for a request with a wrong token, apart from the connection.
// The client has gone, so that the refusal doesn't wait for its turn.
func BenchmarkRefusedRequest(b *testing.B) {
	s, _ := newVictim(b, Config{})
	gone, leave := context.WithCancel(b.Context())
	leave()
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(gone, http.MethodGet, widgetsPath, http.NoBody)
		r.Header.Set("Authorization", "Bearer wrong")
		if s.http.Handler.ServeHTTP(w, r); w.Code != http.StatusUnauthorized {
			b.Fatal(w.Code)
		}
	}
	if err := s.close(); err != nil {
		b.Error(err)
	}
}

// BenchmarkBesideRefusedRequests measures the requests of a user while 300 clients send requests with wrong tokens
// without a pause. It reports percentiles of the user's time, and how many requests were refused in a second.
func BenchmarkBesideRefusedRequests(b *testing.B) {
	for _, http2 := range []bool{false, true} {
		b.Run(map[bool]string{false: "HTTP1", true: "HTTP2"}[http2], func(b *testing.B) {
			victim := startVictim(b)
			ctx, stop := context.WithCancel(b.Context())
			var refusals atomic.Int64
			var flood sync.WaitGroup
			for range holders {
				flood.Go(func() {
					client := victim.wrong(http2)
					defer client.CloseIdleConnections()
					for ctx.Err() == nil {
						if refused(ctx, client, victim.url) == http.StatusUnauthorized {
							refusals.Add(1)
						}
					}
				})
			}
			for refusals.Load() < 10*holders {
				time.Sleep(time.Millisecond)
			}
			victim.measureBeside(b, &refusals, "refused/s", otherToken, "/version")
			stop()
			flood.Wait()
		})
	}
}

// measureBeside measures GETs of a user, while others do something that they count. It reports percentiles, and how
// often the others did it in a second.
func (v *victim) measureBeside(b *testing.B, done *atomic.Int64, unit, token, path string) {
	before := done.Load()
	var times []time.Duration
	for b.Loop() {
		began := time.Now()
		if code := v.requestAs(b.Context(), b, token, http.MethodGet, path, ""); code != http.StatusOK {
			b.Fatal(code)
		}
		times = append(times, time.Since(began))
	}
	b.ReportMetric(float64(done.Load()-before)/b.Elapsed().Seconds(), unit)
	slices.Sort(times)
	b.ReportMetric(times[len(times)/2].Seconds()*1000, "p50-ms")
	b.ReportMetric(times[len(times)*99/100].Seconds()*1000, "p99-ms")
	b.ReportMetric(times[len(times)-1].Seconds()*1000, "max-ms")
}

// wrong returns a client with a connection of its own.
func (v *victim) wrong(http2 bool) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!http2)
	protocols.SetHTTP2(http2)
	return &http.Client{Transport: &http.Transport{TLSClientConfig: v.tls.Clone(), Protocols: protocols}}
}

// refused sends a request with a wrong token, and returns the code of the answer.
func refused(ctx context.Context, client *http.Client, url string) int {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+widgetsPath, http.NoBody)
	if err != nil {
		return 0
	}
	r.Header.Set("Authorization", "Bearer wrong")
	response, err := client.Do(r)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}
