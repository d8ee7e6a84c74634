package filter

import (
	"net/http"

	"apigen.dev/runtime/endpoint"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// RequestInfo reads what a request asks for out of its URL, once, for the filters behind it and for the endpoint.
// longRunning tells requests beside watches that live as long as their client wants: they have no deadline, don't count
// as under way, and end when the server does; nil is none.
func RequestInfo(longRunning func(*endpoint.RequestInfo) bool) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			info, err := endpoint.ParseRequestInfo(r)
			if err != nil {
				endpoint.WriteStatus(w, r, apierrors.NewBadRequest(err.Error()))
				return
			}
			if longRunning != nil && longRunning(info) {
				info.LongRunning = true
			}
			next.ServeHTTP(w, r.WithContext(endpoint.WithRequestInfo(r.Context(), info)))
		})
	}
}
