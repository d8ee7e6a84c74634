package filter

import "net/http"

// CacheControl forbids shared caches to keep answers, which depend on who asks; as kube-apiserver does. Documents with
// an ETag set their own.
func CacheControl() Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-cache, private")
			next.ServeHTTP(w, r)
		})
	}
}
