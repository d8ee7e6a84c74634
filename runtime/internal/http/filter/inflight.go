package filter

import (
	"net/http"
	"slices"
	"sync"

	"apigen.dev/runtime/auth"
)

// MaxInFlight bounds how many requests the server works on at once, reads and writes separately. One user has at most
// half of the places, so that others find some. A request gives its place back when its answer begins: its work is done
// then, and the client may take its time to read. One user has at most as many answers to read as there are places.
// Long-running requests don't count, and neither do reads of the paths for which public returns true, so that a busy
// server isn't taken for a dead one. Beyond the bounds MaxInFlight answers 429 with Retry-After, except to the group
// system:masters, who must be able to find out what is wrong. 0 means no bound.
func MaxInFlight(reads, writes int, public func(path string) bool) Filter {
	readPlaces, writePlaces := newPlaces(reads), newPlaces(writes)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			places := readPlaces
			if !isRead(r) {
				places = writePlaces
			}
			if places == nil || isLongRunning(r) || isRead(r) && public(r.URL.Path) {
				next.ServeHTTP(w, r)
				return
			}
			name, master := "", false
			if user := auth.UserFrom(r.Context()); user != nil {
				name, master = user.Name, slices.Contains(user.Groups, auth.Masters)
			}
			switch {
			case !master && places.readers.full(name):
				refuse(w, r)
			case places.enter(name, master):
				w, answer := countingOf(w)
				answer.place = place{places: places, readers: places.readers, user: name}
				defer answer.place.end()
				next.ServeHTTP(w, r)
			case master:
				next.ServeHTTP(w, r)
			default:
				refuse(w, r)
			}
		})
	}
}

// places are the places of requests that the server works on.
type places struct {
	share   int // of one user, who is not in system:masters
	readers *readers

	mu   sync.Mutex // guards the fields below
	free int
	held map[string]int // places by the name of the user; none is 0
}

// newPlaces returns n places, or nil for no bound.
func newPlaces(n int) *places {
	if n <= 0 {
		return nil
	}
	return &places{share: (n + 1) / 2, readers: newReaders(n), free: n, held: map[string]int{}}
}

// enter takes a place for a user, and reports whether there was one.
func (p *places) enter(user string, master bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free == 0 || !master && p.held[user] >= p.share {
		return false
	}
	p.free--
	p.held[user]++
	return true
}

// leave gives a place of a user back.
func (p *places) leave(user string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free++
	if p.held[user]--; p.held[user] == 0 {
		delete(p.held, user)
	}
}
