package filter

import (
	"net/http"
	"runtime"
)

// Stack makes the goroutine's stack large enough for the handlers at once. HTTP/2 serves each request on a goroutine of
// its own, whose stack is small at first. Without Stack, the Go runtime doubles it, and copies it frame by frame, deep
// in a chain of calls, which costs a tenth of a cached read and of a write. Here it has few frames to copy. Writes need
// more of it: they compare objects field by field, recursively. The garbage collector shrinks the stacks of watches.
func Stack() Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet || r.Method == http.MethodHead {
				growForRead()
			} else {
				growForWrite()
			}
			next.ServeHTTP(w, r)
		})
	}
}

//go:noinline
func growForRead() {
	var room [12 << 10]byte
	runtime.KeepAlive(&room)
}

//go:noinline
func growForWrite() {
	var room [24 << 10]byte
	runtime.KeepAlive(&room)
}
