package apiregistration

import (
	"net/http"

	"apigen.dev/runtime/internal/http/proxy"
	"apigen.dev/runtime/internal/http/respond"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// errLoop answers a request that this server, or a replica of it, has sent to the server of an APIService.
var errLoop = &apierrors.StatusError{ErrStatus: metav1.Status{
	Status: metav1.StatusFailure, Code: http.StatusLoopDetected, Reason: "LoopDetected",
	Message: "the request is in a loop: this server, or a replica of it, has sent the request to the server of an " +
		"APIService, and the request came back",
}}

// refuseLoops returns a filter that ends requests that came back. Nobody needs to be authenticated for that: the
// request has the credentials of this server itself.
func refuseLoops(loop *proxy.Loop) func(next http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if loop.Closes(r.Header) {
				respond.Error(w, r, errLoop)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}
