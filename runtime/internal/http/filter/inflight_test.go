package filter

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"apigen.dev/runtime/auth"
)

// TestPlacesOfOneUser: one user has half of the places, system:masters have all.
func TestPlacesOfOneUser(t *testing.T) {
	p := newPlaces(5)
	for i, c := range []struct {
		user   string
		master bool
		want   bool
	}{
		{"bob", false, true}, {"bob", false, true}, {"bob", false, true}, {"bob", false, false},
		{"bob", true, true}, {"eve", false, true}, {"eve", false, false}, {"admin", true, false},
	} {
		if got := p.enter(c.user, c.master); got != c.want {
			t.Errorf("%d: %s entered: %v", i, c.user, got)
		}
	}
	p.leave("eve")
	for range 4 {
		p.leave("bob")
	}
	if p.free != 5 || len(p.held) != 0 {
		t.Errorf("%d are free, held: %v", p.free, p.held)
	}
}

// TestUnreadAnswersOfAllUsers: users who have many answers to read share a number of them, and one who has none is
// served.
func TestUnreadAnswersOfAllUsers(t *testing.T) {
	const most, users = 10, 20
	r := newReaders(most)
	read := 0
	for range most { // all ask as often as they may
		for n := range users {
			if user := fmt.Sprint("eve-", n); !r.full(user) {
				r.add(user)
				read++
			}
		}
	}
	if read != readingUsers*most {
		t.Errorf("%d users have %d answers to read", users, read)
	}
	if r.full("bob") || !r.full("eve-0") {
		t.Errorf("bob is full: %t, eve is full: %t", r.full("bob"), r.full("eve-0"))
	}
	for user, held := range maps.Clone(r.held) {
		for range held {
			r.remove(user)
		}
	}
	if r.total != 0 || len(r.held) != 0 || r.full("eve-0") {
		t.Errorf("at last %d are held, by %v", r.total, r.held)
	}
}

// TestUnreadAnswersOfOneUser: a user has as many answers to read as there are places, system:masters have any number.
func TestUnreadAnswersOfOneUser(t *testing.T) {
	var bounded http.Handler
	deepest := 0
	nested := func(w http.ResponseWriter, r *http.Request) { // asks again before its answer is read
		w.WriteHeader(http.StatusOK)
		depth := len(r.URL.Path)
		if deepest = max(deepest, depth); depth < 9 {
			inner := httptest.NewRequestWithContext(r.Context(), r.Method, r.URL.Path+"a", nil)
			bounded.ServeHTTP(httptest.NewRecorder(), inner)
		}
	}
	bounded = Chain(http.HandlerFunc(nested), MaxInFlight(4, 2, func(string) bool { return false }))
	for _, c := range []struct {
		method string
		groups []string
		want   int
	}{
		{http.MethodGet, nil, 4}, {http.MethodPost, nil, 2}, {http.MethodGet, []string{auth.Masters}, 9},
		{http.MethodGet, nil, 4}, {http.MethodPost, nil, 2}, // nothing is left of those before
	} {
		deepest = 0
		ctx := auth.WithUser(t.Context(), &auth.User{Name: "bob", Groups: c.groups})
		bounded.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, c.method, "/", nil))
		if deepest != c.want {
			t.Errorf("%s by %v: %d answers at once", c.method, c.groups, deepest)
		}
	}
}

// TestAnswersGivePlacesBack: whatever begins an answer gives the place of the request back, and what only announces one
// doesn't. It doesn't matter whether a filter in front of MaxInFlight has the writer that notices.
func TestAnswersGivePlacesBack(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(w http.ResponseWriter)
		free bool
	}{
		"nothing":    {func(http.ResponseWriter) {}, false},
		"103":        {func(w http.ResponseWriter) { w.WriteHeader(http.StatusEarlyHints) }, false},
		"a header":   {func(w http.ResponseWriter) { w.WriteHeader(http.StatusForbidden) }, true},
		"a body":     {func(w http.ResponseWriter) { _, _ = io.WriteString(w, "x") }, true},
		"two pieces": {func(w http.ResponseWriter) { _, _ = w.Write(nil); _, _ = w.Write(nil) }, true},
		"103, a body": {func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusEarlyHints)
			_, _ = w.Write(nil)
		}, true},
		"an unwrapped": {func(w http.ResponseWriter) { _, _ = (&audited{ResponseWriter: w}).Write(nil) }, true},
	} {
		for _, front := range []Filter{nil, Observe()} {
			var bounded http.Handler
			inner := func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/inner" {
					return
				}
				c.do(w)
				answer := httptest.NewRecorder() // of another request, while there is one place
				bounded.ServeHTTP(answer, httptest.NewRequestWithContext(as("eve"), http.MethodGet, "/inner", nil))
				if got := answer.Code == http.StatusOK; got != c.free {
					t.Errorf("%s: another request is answered %d", name, answer.Code)
				}
			}
			bounded = Chain(http.HandlerFunc(inner), front, MaxInFlight(1, 1, func(string) bool { return false }))
			for range 2 {
				r := httptest.NewRequestWithContext(as("bob"), http.MethodGet, "/", nil)
				bounded.ServeHTTP(httptest.NewRecorder(), r)
			}
		}
	}
}

// as returns a context of a user.
func as(user string) context.Context {
	return auth.WithUser(context.Background(), &auth.User{Name: user})
}

// TestPlacesCostNothing: a place takes no memory of its own.
func TestPlacesCostNothing(t *testing.T) {
	p := newPlaces(4)
	if n := testing.AllocsPerRun(100, func() {
		if p.enter("bob", false) {
			p.leave("bob")
		}
	}); n > 0 {
		t.Error(n, "allocations")
	}
}

func BenchmarkPlaces(b *testing.B) {
	for _, users := range []int{0, 100} {
		b.Run(fmt.Sprint(users), func(b *testing.B) {
			p := newPlaces(400)
			for i := range users {
				p.enter(fmt.Sprint(i), false)
			}
			b.ReportAllocs()
			for b.Loop() {
				p.enter("bob", false)
				p.leave("bob")
			}
		})
	}
}
