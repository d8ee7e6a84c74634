package filter

import (
	"net/http"
	"sync"

	"apigen.dev/runtime/internal/http/respond"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// place is what a request holds of the server's bounds: a place, or the seats of a visit, while it works, and a part of
// the user's unread answers from then on. The zero value holds nothing. The goroutine of the request uses it.
type place struct {
	places  *places
	visit   visit    // an interface, so that servers without priority and fairness don't contain it
	readers *readers // nil if the request gives nothing back before its end
	user    string
	reading bool
}

// visit is a flow.Visit.
type visit interface{ Leave() }

// answer says that the answer begins: the work is done, and the rest is up to the client.
func (p *place) answer() {
	if p.readers != nil && !p.reading {
		p.giveBack()
		p.reading = true
		p.readers.add(p.user)
	}
}

// end says that the request ends.
func (p *place) end() {
	if p.reading {
		p.readers.remove(p.user)
	} else {
		p.giveBack()
	}
	*p = place{}
}

func (p *place) giveBack() {
	if p.places != nil {
		p.places.leave(p.user)
	}
	if p.visit != nil {
		p.visit.Leave()
	}
}

// readers counts the requests of each user whose answers have begun. They hold buffers and goroutines until their
// clients have read them.
type readers struct {
	most int // of one user, who is not in system:masters

	mu    sync.Mutex // guards the fields below
	total int
	held  map[string]int
}

// readingUsers is how many users may have all the answers to read that one may have. If there are more, they share.
const readingUsers = 4

func newReaders(most int) *readers { return &readers{most: most, held: map[string]int{}} }

// full reports whether a user has so many answers to read that the server works on no further request. A user who has
// none to read is never full, whatever others have.
func (r *readers) full(user string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	share := r.most
	if all := readingUsers * r.most; r.total >= all {
		share = max(1, min(share, all/len(r.held)))
	}
	return r.held[user] >= share
}

func (r *readers) add(user string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held[user]++
	r.total++
}

func (r *readers) remove(user string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total--
	if r.held[user]--; r.held[user] == 0 {
		delete(r.held, user)
	}
}

// refuse answers a request for which there is no place.
func refuse(w http.ResponseWriter, r *http.Request) {
	terminate(w)
	respond.Error(w, r, apierrors.NewTooManyRequests("too many requests, please try again later", 1))
}
