package filter

import (
	"context"
	"errors"
	"net/http"
	"time"

	"apigen.dev/runtime/endpoint"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Deadline gives every request that is not a watch a deadline: limit, or less where the query's timeout asks for less.
// The deadline holds for reading the body, too, so that a client that sends it drop by drop ends.
func Deadline(limit time.Duration) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if isLongRunning(r) {
				next.ServeHTTP(w, r)
				return
			}
			timeout, err := requestTimeout(r, limit)
			if err != nil {
				endpoint.WriteStatus(w, r, apierrors.NewBadRequest(err.Error()))
				return
			}
			ctx, cancel := context.WithTimeout(r.Context(), timeout)
			defer cancel()
			if r.Body != nil && r.Body != http.NoBody {
				// Writers that can't do this (in-process tests) have no slow clients either.
				_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(timeout))
			}
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

// isLongRunning tells requests that live as long as their client wants.
func isLongRunning(r *http.Request) bool {
	info := endpoint.RequestInfoFrom(r.Context())
	return info != nil && info.IsResource && info.Verb == "watch"
}

func requestTimeout(r *http.Request, limit time.Duration) (time.Duration, error) {
	text := r.URL.Query().Get("timeout")
	if text == "" {
		return limit, nil
	}
	timeout, err := time.ParseDuration(text)
	if err != nil || timeout < 0 {
		return 0, errors.New("invalid timeout specified in the request URL")
	}
	if timeout == 0 || timeout > limit {
		return limit, nil
	}
	return timeout, nil
}
