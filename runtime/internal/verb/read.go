package verb

import (
	"context"
	"iter"

	"apigen.dev/runtime/api"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ListOptions are the parsed and validated query of a list; see metav1.ListOptions for what the fields mean.
type ListOptions struct {
	api.Selection
	ResourceVersion      string
	ResourceVersionMatch metav1.ResourceVersionMatch
	// Limit bounds the items of a page; 0 means no bound. A list of stored resources at ResourceVersion "0" ignores it,
	// as kube-apiserver 1.36 and 1.37 do: such a list asks for what the cache has at hand, of any age, and a page of it
	// could only be continued at a revision that the cache may not have any more.
	Limit    int64
	Continue string
	// Compress reports whether the reader can use Page.Parts. Only the cache of stored resources heeds it.
	Compress bool
	// Memory is asked before the list takes memory; nil allows everything. Only stored resources heed it.
	Memory Memory
}

// Memory says whether a request may take more memory.
type Memory interface {
	// Hold adds bytes that the request takes at once to what it holds, or refuses them: the request ends with the error
	// then.
	Hold(bytes int64) error
	// Expect is Hold for bytes that the request will probably take.
	Expect(bytes int64) error
}

// Page is what a List returns. Its items can be read once or more until it is closed.
type Page struct {
	ResourceVersion string
	// Continue is empty if nothing that follows matches the selection, though more keys may follow: the cache knows
	// what matches, and a page of the backend looks for one more match before it ends. kube-apiserver may give a token
	// there, and the client then gets an empty last page. By the API conventions either is right: a client goes on as
	// long as there is a token.
	Continue string
	// Remaining is nil if it is not known.
	Remaining *int64
	// Len is the number of items.
	Len int
	// Items yields the renditions in key order. All were rendered before the Page was returned: it cannot fail.
	Items iter.Seq[Rendition]
	// Blocks are the same items joined, where they are at hand in that form; else nil.
	Blocks []Block
	// Parts are the same items, of which most are kept compressed. They are set where the reader asked for them, can be
	// read more than once, and are more than deflate.Threshold bytes together. Otherwise Parts is nil.
	Parts iter.Seq[Part]
	// Close gives back what the page borrowed.
	Close func()
}

// Event is one watch event. A bookmark's Object is a rendition, too.
type Event struct {
	Type   api.EventType
	Object Rendition
}

// Watch is a watch under way, with one reader.
type Watch interface {
	// Next waits for events and returns all that are due, at most a bounded number, so that they can be written in one
	// piece. The slice is valid until the following call. An error ends the watch: ctx's error, or a status (410
	// Expired, 500 for a value that can't be decoded) that is to be sent as an ERROR event.
	Next(ctx context.Context) ([]Event, error)
	// Close ends the watch; it may be called once Next has returned.
	Close()
}

// Backlog is a Watch that tells when events are at hand, so that they can be written in one piece with those before.
type Backlog interface {
	// More reports whether the next Next returns at once. It may be called by the reader.
	More() bool
}

// Paced is a Watch that tells how far it has come. Those of New's resources are.
type Paced interface {
	// Revision is how far: every event up to it was returned. It advances also when Next ends with its context. It may
	// be called by the reader, once the state that the watch began with was returned.
	Revision() int64
	// Hurry has storage tell how far it is, so that Revision soon is, too; with a cache, once Next was called again.
	Hurry(ctx context.Context) error
}
