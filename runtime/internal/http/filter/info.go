package filter

import (
	"net/http"

	"apigen.dev/runtime/internal/audit/trail"
	"apigen.dev/runtime/internal/http/respond"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/timing"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// RequestInfo makes the request.Info and the timing.Record of a request, and its trail.Record if auditor isn't nil, and
// puts them into the request's context, for the filters after it and for the endpoint. longRunning tells which requests
// beside watches last as long as their client wants; nil means none. It answers 400 if it can't read the URL.
func RequestInfo(longRunning func(*request.Info) bool, auditor *trail.Auditor) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			info, err := request.New(r, longRunning)
			if err != nil {
				respond.Error(w, r, apierrors.NewBadRequest(err.Error()))
				return
			}
			ctx := r.Context()
			if auditor != nil {
				ctx = auditor.NewRecord(ctx, auditIDOf(w))
			}
			next.ServeHTTP(w, r.WithContext(&lazyDeadline{parent: request.WithInfo(timing.New(ctx), info)}))
		})
	}
}
