package filter

import "net/http"

// CacheControl forbids shared caches to keep answers, which depend on who asks; as kube-apiserver does. Documents with
// an ETag set their own.
func CacheControl() Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Cache-Control"] = notShared
			next.ServeHTTP(w, r)
		})
	}
}

// notShared is never changed: whoever wants another value sets another slice.
var notShared = []string{"no-cache, private"}
