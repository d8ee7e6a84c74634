package respond

import (
	"context"
	"net/http"
)

// Announcer is a connection, or a writer of answers, that wants to know of a body, by its size in bytes, that follows
// the header at once.
type Announcer interface{ Announce(size int) }

type announcerKey struct{}

// WithAnnouncer returns the context of a connection whose answers are announced.
func WithAnnouncer(ctx context.Context, a Announcer) context.Context {
	return context.WithValue(ctx, announcerKey{}, a)
}

// AnnouncerFrom returns what wants to know of an answer to a request; nil if nothing does.
func AnnouncerFrom(r *http.Request) Announcer {
	if r.Method == http.MethodHead { // whose answers have no body
		return nil
	}
	a, _ := r.Context().Value(announcerKey{}).(Announcer)
	return a
}

// announce tells the Announcer below a writer, if there is one.
func announce(w http.ResponseWriter, size int) {
	for {
		if a, ok := w.(Announcer); ok {
			a.Announce(size)
			return
		}
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return
		}
		w = wrapper.Unwrap()
	}
}
