package filter

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// TestTerminated: an observer learns which requests the server gave up. An answer of the handler's own is none of them,
// whatever its code.
func TestTerminated(t *testing.T) {
	const limit = time.Minute
	synctest.Test(t, func(t *testing.T) {
		got := map[string]bool{}
		entered, leave := make(chan struct{}), make(chan struct{})
		codes := map[string]int{"/rejects": http.StatusTooManyRequests, "/late": http.StatusGatewayTimeout,
			"/answers": http.StatusGatewayTimeout, "/held": http.StatusOK, "/crowded": http.StatusOK}
		handler := Chain(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/held":
				entered <- struct{}{}
				<-leave
			case "/late":
				<-r.Context().Done()
			}
			w.WriteHeader(codes[r.URL.Path])
		}), RequestInfo(nil, nil), Observe(func(o Observation) { got[o.Request.URL.Path] = o.Terminated }),
			Deadline(limit), MaxInFlight(1, 1, func(string) bool { return false }))
		send := func(path string) {
			handler.ServeHTTP(httptest.NewRecorder(),
				httptest.NewRequestWithContext(context.Background(), http.MethodGet, path, http.NoBody))
		}
		for _, path := range []string{"/rejects", "/late", "/answers"} {
			send(path)
		}
		go send("/held")
		<-entered
		send("/crowded")
		close(leave)
		synctest.Wait()
		want := map[string]bool{"/rejects": false, "/late": true, "/answers": false, "/held": false, "/crowded": true}
		if !maps.Equal(got, want) {
			t.Errorf("terminated are %v, want %v", got, want)
		}
	})
}
