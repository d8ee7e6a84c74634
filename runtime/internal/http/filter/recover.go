package filter

import (
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"

	"apigen.dev/runtime/internal/http/respond"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Recover answers a panic of a handler with 500, and logs its stack. If the handler has begun to write the answer,
// Recover aborts the connection, so that the client doesn't take a part of the answer for the whole. It doesn't handle
// http.ErrAbortHandler, with which handlers abort on purpose.
func Recover(log *slog.Logger) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			counted := &counting{ResponseWriter: w}
			defer func() {
				cause := recover()
				if cause == nil {
					return
				}
				if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
					panic(cause)
				}
				log.Error("panic in a request", "method", r.Method, "path", r.URL.Path, "panic", cause,
					"stack", string(debug.Stack()))
				if counted.code != 0 { // the handler has begun to write the answer
					panic(http.ErrAbortHandler)
				}
				respond.Error(w, r, apierrors.NewInternalError(errors.New("the server could not handle the request")))
			}()
			next.ServeHTTP(counted, r)
		})
	}
}
