package filter

import (
	"net/http"
	"slices"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/endpoint"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// MaxInFlight bounds how many requests are worked on at once: reads and writes separately, watches not at all, nor reads
// of public paths: a server that is busy must not be taken for a dead one. Whoever comes when it is full gets 429 with
// Retry-After, but for system:masters, who must be able to look what is wrong. A bound of 0 is none.
func MaxInFlight(reads, writes int, public func(path string) bool) Filter {
	readSlots, writeSlots := slots(reads), slots(writes)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			slots := readSlots
			if !isRead(r) {
				slots = writeSlots
			}
			if slots == nil || isLongRunning(r) || isRead(r) && public(r.URL.Path) {
				next.ServeHTTP(w, r)
				return
			}
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
				next.ServeHTTP(w, r)
			default:
				if user := auth.UserFrom(r.Context()); user != nil && slices.Contains(user.Groups, auth.Masters) {
					next.ServeHTTP(w, r)
					return
				}
				endpoint.WriteStatus(w, r, apierrors.NewTooManyRequests("too many requests, please try again later", 1))
			}
		})
	}
}

func slots(n int) chan struct{} {
	if n <= 0 {
		return nil
	}
	return make(chan struct{}, n)
}
