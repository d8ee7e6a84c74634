package filter

import "net/http"

// CacheControl forbids shared caches to keep answers, because answers depend on the user. kube-apiserver does the same.
// Handlers of documents with an ETag set a value of their own.
func CacheControl() Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Cache-Control"] = notShared
			next.ServeHTTP(w, r)
		})
	}
}

// notShared is never changed: a handler that wants another value sets another slice.
var notShared = []string{"no-cache, private"}
