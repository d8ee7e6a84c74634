package filter

import (
	"net/http"

	"apigen.dev/runtime/endpoint"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// RequestInfo reads what a request asks for out of its URL, once, for the filters behind it and for the endpoint.
func RequestInfo() Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			info, err := endpoint.ParseRequestInfo(r)
			if err != nil {
				endpoint.WriteStatus(w, r, apierrors.NewBadRequest(err.Error()))
				return
			}
			next.ServeHTTP(w, r.WithContext(endpoint.WithRequestInfo(r.Context(), info)))
		})
	}
}
