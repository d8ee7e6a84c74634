// Package storage is the contract of a backend: bytes under ordered string keys, one global revision that every write
// increases, optimistic transactions on one key, and a watch. It knows no objects and no format.
//
// Package storagetest holds the suite that every backend passes; memory, etcd and embedded are the backends.
//
// All methods are safe for concurrent use. A backend shares the values that it returns, so readers must not change
// them; a caller must not change a value after it has handed it to a backend.
package storage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Backend is one key space. Its users ask for the interfaces of which it is made.
type Backend interface {
	Reader
	Writer
	Watcher
	// Compact drops history before revision. Reads and watches of dropped history fail with a CompactedError.
	Compact(ctx context.Context, revision int64) error
	// Close ends all watches and releases the backend's resources. It waits until its goroutines have ended.
	Close() error
}

// KeyValue is a key with its value.
type KeyValue struct {
	Key   string
	Value []byte
	// Revision is the revision of the key's last write, which optimistic transactions compare.
	Revision int64
}

// Reader reads. All reads are linearizable, except ranges at a given revision, which need not be.
type Reader interface {
	// Get returns the key's state, or nil if the key is absent, and the backend's revision at that moment.
	Get(ctx context.Context, key string, opts GetOptions) (kv *KeyValue, revision int64, err error)
	// Range returns keys in ascending order.
	Range(ctx context.Context, req RangeRequest) (*RangeResult, error)
	// Count returns how many keys begin with prefix.
	Count(ctx context.Context, prefix string) (int64, error)
	// Revision returns the current revision of the whole key space. The backend determines it after the call began.
	Revision(ctx context.Context) (int64, error)
}

// GetOptions refine a Get.
type GetOptions struct {
	// RevisionOnly leaves the value out. A caller that has a value asks so, for a few bytes, whether it is current.
	RevisionOnly bool
}

// RangeRequest names the keys of a Range.
type RangeRequest struct {
	// Prefix is the prefix of all keys.
	Prefix string
	// From is the first key of the result (inclusive), if it isn't empty. It must begin with Prefix.
	From string
	// Limit bounds the number of keys; 0 is all.
	Limit int64
	// Revision is the state to read; 0 is the current one. A read of a future revision fails with ErrFutureRevision, a
	// read of a compacted one with a CompactedError.
	Revision int64
}

// RangeResult is a page of keys.
type RangeResult struct {
	Items []KeyValue
	// Revision is the state of the result: the requested one, or the current one if none was requested.
	Revision int64
	// More says that more keys follow the last item.
	More bool
	// Remaining is the number of keys that follow the last item.
	Remaining int64
}

// Writer writes one key in one transaction.
type Writer interface {
	// Put writes value if the key's revision is expect; expect 0 means that the key must be absent. It returns the
	// revision of the write. Where the key has another revision Put fails with a ConflictError and writes nothing. The
	// backend removes the key after a ttl above 0, to its precision (seconds). KeepTTL keeps the key's remaining time,
	// if it has one; 0 keeps the key for ever.
	Put(ctx context.Context, key string, value []byte, expect int64, ttl time.Duration) (int64, error)
	// Delete removes the key if its revision is expect (never 0), and returns the revision of the removal.
	Delete(ctx context.Context, key string, expect int64) (int64, error)
}

// KeepTTL is the ttl of a write that doesn't change when the key is removed.
const KeepTTL time.Duration = -1

// Watcher watches.
type Watcher interface {
	// Watch delivers every event on keys that begin with prefix whose revision is above after, once and in order. With
	// after 0 it delivers the events after the current revision. The stream ends with ctx.
	Watch(ctx context.Context, prefix string, after int64) (Stream, error)
}

// Stream is a watch under way. It has one reader.
type Stream interface {
	// Next waits for the next batch. A batch has all events of a revision or none. Next fails with a CompactedError
	// where the history was dropped, with ctx's error where ctx (or that of Watch) ended, and with an error that is
	// ErrUnavailable where the connection to the backend was lost. After an error the stream has ended.
	Next(ctx context.Context) (Batch, error)
	// RequestProgress asks the backend for a batch, which may be empty, that says how far the stream has come. The
	// request may be lost: callers repeat it until a Batch has the Revision that they wait for.
	RequestProgress(ctx context.Context) error
	// Close ends the stream and waits until its resources are released.
	Close()
}

// Resumer is a Stream that resumes by itself after its connection was lost. An older backend may have replaced the one
// before, and clients may have written to it.
type Resumer interface {
	// EndWithConnection makes the stream end with ErrUnavailable instead. Its caller calls it before the first Next.
	EndWithConnection()
}

// Batch is a number of events, and the revision up to which the stream has come. A batch without events may come at any
// time, also without a request.
type Batch struct {
	Events []Event
	// Revision says that the stream has delivered all events up to and including it.
	Revision int64
}

// Event is one write of one key.
type Event struct {
	// Deleted distinguishes a deletion from a write, Created the creation of an absent key from a change of its value.
	Deleted, Created bool
	// KeyValue has the key, value and revision of the write; a deletion has no Value.
	KeyValue
	// Previous is the state before the event. It is nil for a creation. It is also nil for a change or a deletion where
	// the backend compacted that state; a reader that needs the state must then fail as for a CompactedError.
	Previous *KeyValue
}

// Validate returns an error for a request that no backend accepts: a From outside of the prefix, or a number below 0.
func (r RangeRequest) Validate() error {
	switch {
	case r.From != "" && !strings.HasPrefix(r.From, r.Prefix):
		return fmt.Errorf("range: from %q does not begin with the prefix %q", r.From, r.Prefix)
	case r.Limit < 0:
		return fmt.Errorf("range of %q: the limit must not be negative, got %d", r.Prefix, r.Limit)
	case r.Revision < 0:
		return fmt.Errorf("range of %q: the revision must not be negative, got %d", r.Prefix, r.Revision)
	}
	return nil
}

// ValidateWatch returns an error for a revision after which no backend can begin a watch.
func ValidateWatch(after int64) error {
	if after < 0 {
		return fmt.Errorf("watch: the revision must not be negative, got %d", after)
	}
	return nil
}

// PrefixEnd returns the first key behind all keys that begin with prefix; "" if there is none.
func PrefixEnd(prefix string) string {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			return prefix[:i] + string([]byte{prefix[i] + 1})
		}
	}
	return ""
}

var (
	// ErrUnavailable means that the backend could not be reached, or had no leader, and that nothing was written.
	ErrUnavailable = errors.New("storage is unavailable")
	// ErrUnknownOutcome means that a write was sent, and that nobody knows whether it took effect. It must not be
	// repeated blindly.
	ErrUnknownOutcome = errors.New("the outcome of the write is unknown")
	// ErrFutureRevision means that the backend has not reached the revision of a read.
	ErrFutureRevision = errors.New("the revision is in the future")
	// ErrTooLarge means that the value is larger than the backend accepts. Nothing was written.
	ErrTooLarge = errors.New("the value is too large")
	// ErrNoSpace means that the backend has used up its space quota. Nothing was written.
	ErrNoSpace = errors.New("storage has no space left")
	// ErrInUse means that another process has the backend's directory.
	ErrInUse = errors.New("in use by another server")
	// ErrNoData means that the backend's directory holds no data.
	ErrNoData = errors.New("it holds no data")
	// ErrClosed means that the backend was closed.
	ErrClosed = errors.New("storage is closed")
)

// ConflictError says that a transaction found another revision than expected. Nothing was written.
type ConflictError struct {
	Key      string
	Expected int64
	// Current is the state that the transaction found; nil if the key is absent.
	Current *KeyValue
}

func (e *ConflictError) Error() string {
	found := "absent"
	if e.Current != nil {
		found = fmt.Sprintf("at revision %d", e.Current.Revision)
	}
	return fmt.Sprintf("%s: expected revision %d, found %s", e.Key, e.Expected, found)
}

// CompactedError says that the backend has dropped the requested history.
type CompactedError struct {
	// Revision is the oldest revision that the backend still has; 0 if it is not known.
	Revision int64
}

func (e *CompactedError) Error() string {
	if e.Revision == 0 {
		return "the revision was compacted"
	}
	return fmt.Sprintf("the revision was compacted, the oldest is %d", e.Revision)
}
