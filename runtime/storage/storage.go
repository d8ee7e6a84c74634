// Package storage is the contract of a backend: bytes under ordered string keys, one global revision that every write
// increases, optimistic transactions on one key, and a watch. It knows no objects and no format.
//
// Package storagetest holds the suite that every backend passes; memory, etcd and embedded are the backends.
//
// All methods are safe for concurrent use. Values that a backend hands out are shared and never written to; values that
// it is given must not be changed by the caller afterwards.
package storage

import (
	"context"
	"time"
)

// Backend is one key space. The interfaces that it is made of are what its users ask for.
type Backend interface {
	Reader
	Writer
	Watcher
	// Compact drops history before revision. Reads and watches of what was dropped fail with a CompactedError.
	Compact(ctx context.Context, revision int64) error
	// Close ends all watches and releases what the backend holds. It waits until its goroutines have ended.
	Close() error
}

// KeyValue is what a key holds.
type KeyValue struct {
	Key   string
	Value []byte
	// Revision is that of the last write of this key, what optimistic transactions compare.
	Revision int64
}

// Reader reads. All reads are linearizable, but for ranges at a given revision, which need not be.
type Reader interface {
	// Get returns the key's state, or nil where the key is absent, and the backend's revision at that moment.
	Get(ctx context.Context, key string, opts GetOptions) (kv *KeyValue, revision int64, err error)
	// Range returns keys in ascending order.
	Range(ctx context.Context, req RangeRequest) (*RangeResult, error)
	// Count returns how many keys begin with prefix.
	Count(ctx context.Context, prefix string) (int64, error)
	// Revision returns the current revision of the whole key space, asked for after the call began.
	Revision(ctx context.Context) (int64, error)
}

// GetOptions refine a Get.
type GetOptions struct {
	// RevisionOnly leaves the value out: the question "is what I have still current?" for a few bytes.
	RevisionOnly bool
}

// RangeRequest names the keys of a Range.
type RangeRequest struct {
	// Prefix is what all keys begin with.
	Prefix string
	// From, where not empty, is the first key wanted (inclusive); it must begin with Prefix.
	From string
	// Limit bounds the number of keys; 0 is all.
	Limit int64
	// Revision is the state to read; 0 is the current one. One of the future fails with ErrFutureRevision, one that
	// was compacted with a CompactedError.
	Revision int64
}

// RangeResult is a page of keys.
type RangeResult struct {
	Items []KeyValue
	// Revision is the state that was read: the requested one, or the current one where none was requested.
	Revision int64
	// More says that keys follow behind the last item.
	More bool
	// Remaining is how many keys follow behind the last item.
	Remaining int64
}

// Writer writes one key in one transaction.
type Writer interface {
	// Put writes value if the key's revision is expect; expect 0 means that the key must be absent. It returns the
	// revision of the write. Where the key has another revision it fails with a ConflictError, and nothing is written.
	// A ttl above 0 removes the key after that time, to the backend's precision (seconds); KeepTTL leaves it the time that
	// it has, if it has one; 0 keeps it for ever.
	Put(ctx context.Context, key string, value []byte, expect int64, ttl time.Duration) (int64, error)
	// Delete removes the key if its revision is expect (never 0), and returns the revision of the removal.
	Delete(ctx context.Context, key string, expect int64) (int64, error)
}

// KeepTTL is the ttl of a write that changes nothing about when the key is removed.
const KeepTTL time.Duration = -1

// Watcher watches.
type Watcher interface {
	// Watch delivers every event on keys that begin with prefix whose revision is above after, once and in order.
	// after 0 means from now: after the current revision. The stream ends with ctx.
	Watch(ctx context.Context, prefix string, after int64) (Stream, error)
}

// Stream is a watch under way. It has one reader.
type Stream interface {
	// Next waits for the next batch. Events of one revision are never split over two batches. It fails with a
	// CompactedError where history is gone, with ctx's error where ctx (or that of Watch) ended, with an error that is
	// ErrUnavailable where the backend was lost; after an error the stream is at its end.
	Next(ctx context.Context) (Batch, error)
	// RequestProgress asks the backend to send a batch, empty if need be, that tells how far the stream has come. The
	// request may be lost: callers repeat it until the Batch.Revision that they want has come.
	RequestProgress(ctx context.Context) error
	// Close ends the stream and waits for what it holds.
	Close()
}

// Resumer is a Stream that goes on by itself where its connection was lost and comes back. The backend that came back may
// have been replaced by an older one, and written to since.
type Resumer interface {
	// EndWithConnection makes the stream end with ErrUnavailable instead. It is called before the first Next.
	EndWithConnection()
}

// Batch is what happened, and how far the stream has come. One without events may come at any time, unasked.
type Batch struct {
	Events []Event
	// Revision: all events up to and including it have been delivered.
	Revision int64
}

// Event is one write of one key.
type Event struct {
	// Deleted tells a deletion from a write. Created tells the creation of an absent key from a change of its value.
	Deleted, Created bool
	// Key, Value and Revision are those of the write; a deletion has no Value.
	KeyValue
	// Previous is the state before the event. It is nil for a creation. It is also nil for a change or a deletion where
	// the backend compacted that state; a reader that needs the state must then fail as for a CompactedError.
	Previous *KeyValue
}
