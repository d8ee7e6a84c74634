package filter

import (
	"net/http"
	"slices"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/respond"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// MaxInFlight bounds how many requests the server serves at once, reads and writes separately. Long-running requests
// don't count, and neither do reads of the paths for which public returns true, so that a busy server isn't taken for a
// dead one. Beyond the bound MaxInFlight answers 429 with Retry-After, except to the group system:masters, who must be
// able to find out what is wrong. 0 is no bound.
func MaxInFlight(reads, writes int, public func(path string) bool) Filter {
	readSlots, writeSlots := slots(reads), slots(writes)
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
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
			respond.Error(w, r, apierrors.NewTooManyRequests("too many requests, please try again later", 1))
		}
	}
}

func slots(n int) chan struct{} {
	if n <= 0 {
		return nil
	}
	return make(chan struct{}, n)
}
