// Package cache is the cacher of one resource: an immutable, ordered snapshot of every object's renditions and a sliding
// log of events, both fed by one watch on the backend, so that GET, LIST and WATCH write bytes and ask nobody.
//
// It knows storage and the vocabulary, no Go type of a user and no format: a Codec, given by the registry, decodes what
// the backend holds and renders forms.
package cache

import (
	"context"
	"iter"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/storage"
)

// Codec turns stored values into renditions. Its methods are safe for concurrent use.
type Codec interface {
	// Decode reads a stored value. Its errors poison the entry: reads that cover it fail by name.
	Decode(key string, value []byte, revision int64) (Record, error)
	// Render makes another form of an object from the rendition that Decode returned.
	Render(key string, stored api.Rendition, form api.Form) (api.Rendition, error)
	// Restamp returns the same object with another resourceVersion.
	Restamp(r api.Rendition, revision int64) api.Rendition
}

// Record is what the cache keeps of one stored value.
type Record struct {
	// Rendition is the object in the storage version, whole.
	Rendition api.Rendition
	Labels    map[string]string
	// Fields are the values of metadata.name, metadata.namespace and then of api.Info.SelectableFields, in that order.
	Fields []string
	// Stale says that what is stored is not what would be stored today.
	Stale bool
}

// Config is what New needs.
type Config struct {
	Backend storage.Backend
	// Prefix of the resource's keys; it ends in "/".
	Prefix string
	Codec  Codec
	// Stored is the form of Record.Rendition.
	Stored api.Form
	// Name is used in messages and metrics: widgets.shop.example.com.
	Name string
}

// Match decides whether a selection takes an entry; nil takes all. It must be fast and without side effects.
type Match func(*Entry) bool

// Cache is the cacher. All methods are safe for concurrent use.
type Cache struct{}

// New returns a cache that is empty and not ready until Run fills it.
func New(config Config) *Cache { panic("stub") }

// Run fills the cache and follows the backend until ctx ends. Whatever goes wrong with the backend, it tries again; a
// lost watch is resumed, a compacted one or a backend that was rolled back makes it start anew with a new snapshot.
func (c *Cache) Run(ctx context.Context) error { panic("stub") }

// Ready is nil while the cache follows the backend, else the reason why not.
func (c *Cache) Ready() error { panic("stub") }

// Current returns the latest snapshot at once: what resourceVersion=0 reads. It fails with ErrNotReady before the first
// filling.
func (c *Cache) Current() (*Snapshot, error) { panic("stub") }

// Consistent returns a snapshot that holds every write acknowledged before the call (D6). Concurrent calls share
// questions to the backend, but none joins a question that was asked before it arrived. It fails with ErrLagging where
// the cache doesn't catch up within its bound; the caller then reads from the backend.
func (c *Cache) Consistent(ctx context.Context) (*Snapshot, error) { panic("stub") }

// NotOlderThan returns a snapshot at revision or later, waiting a bounded time (3 s) for it; then ErrFuture.
func (c *Cache) NotOlderThan(ctx context.Context, revision int64) (*Snapshot, error) { panic("stub") }

// At returns the snapshot at exactly this revision; ErrExpired where the window no longer has it, ErrFuture where it has
// not come after the bounded wait.
func (c *Cache) At(ctx context.Context, revision int64) (*Snapshot, error) { panic("stub") }

// Watch returns a cursor that yields what happens after revision to entries whose key begins with prefix (which begins
// with the cache's). ErrExpired where the window begins later. A revision of the future is waited for.
func (c *Cache) Watch(prefix string, after int64, match Match) (*Cursor, error) { panic("stub") }

// Snapshot is the state at one revision. It is immutable; readers take no lock.
type Snapshot struct{}

// Revision is the backend's revision that the snapshot shows.
func (s *Snapshot) Revision() int64 { panic("stub") }

// Get returns the entry of key, or nil.
func (s *Snapshot) Get(key string) *Entry { panic("stub") }

// Count returns the number of entries whose key begins with prefix and is not below from ("" is all of the prefix), in
// logarithmic time.
func (s *Snapshot) Count(prefix, from string) int { panic("stub") }

// Entries yields the entries whose key begins with prefix, beginning at from (inclusive; "" is the prefix's first), in
// key order.
func (s *Snapshot) Entries(prefix, from string) iter.Seq[*Entry] { panic("stub") }

// Poisoned returns the first entry below prefix that could not be decoded, or nil; in constant time where there is none.
func (s *Snapshot) Poisoned(prefix string) *Entry { panic("stub") }

// Entry is one object at one revision: its rendition in the storage version, what selectors ask for, and the other
// forms as they were asked for. It is immutable but for those.
type Entry struct{}

// Key is the entry's key in the backend.
func (e *Entry) Key() string { panic("stub") }

// Revision is that of the object's last write.
func (e *Entry) Revision() int64 { panic("stub") }

// Stale tells that what is stored is not what would be stored today.
func (e *Entry) Stale() bool { panic("stub") }

// Err is why the value could not be decoded, or nil.
func (e *Entry) Err() error { panic("stub") }

// Rendition returns a form of the object, rendering it at first demand. After that it allocates nothing.
func (e *Entry) Rendition(form api.Form) (api.Rendition, error) { panic("stub") }

// Labels lets a labels.Selector match the entry's labels without allocating: it is a labels.Labels.
func (e *Entry) Labels() LabelSet { panic("stub") }

// Field returns the value at index i of Record.Fields.
func (e *Entry) Field(i int) string { panic("stub") }

// LabelSet implements labels.Labels over an entry's packed labels.
type LabelSet struct{}

// EventType is what an event means to one cursor, with its match applied to the state before and after.
type EventType uint8

// The types of events.
const (
	Added EventType = iota
	Modified
	Deleted
)

// Event is one change as a cursor sees it.
type Event struct {
	Type EventType
	// Entry is the state after the change; of a Deleted event it is the last matching state before, restamped with the
	// revision of the change.
	Entry *Entry
	// Revision is that of the change.
	Revision int64
}

// Cursor is a watcher: a place in the log. It has one reader and holds no queue.
type Cursor struct{}

// Next waits until there is something to tell and returns it, at most a bounded number of events; the slice is valid
// until the next call. ErrExpired where the cursor fell out of the window or the cache was dropped, ctx's error where it
// ended; a poisoned value that the cursor covers is returned as an error that wraps ErrCorrupt.
func (w *Cursor) Next(ctx context.Context) ([]Event, error) { panic("stub") }

// Revision is how far the cursor has come: every matching event up to and including it was returned. It advances with
// the backend's progress when Next is called, also while nothing matches.
func (w *Cursor) Revision() int64 { panic("stub") }

// Close releases the cursor.
func (w *Cursor) Close() { panic("stub") }
