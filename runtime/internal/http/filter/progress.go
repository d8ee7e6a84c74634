package filter

import (
	"net/http"
	"time"

	"apigen.dev/runtime/internal/http/respond"
)

// Progress bounds the answers of long-running requests, such as watches, by their clients' progress: a client that
// doesn't take a write within timeout is dropped. It stands behind the filters that refuse requests: their answers keep
// the deadline that the server gives to every answer.
func Progress(timeout time.Duration) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !isLongRunning(r) {
				next.ServeHTTP(w, r)
				return
			}
			respond.ByProgress(w, r, next, timeout)
		})
	}
}
