package storage

import (
	"errors"
	"fmt"
)

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
	// Current is the state that the transaction found; nil where the key is absent.
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
	// Revision is the oldest revision that the backend still has; 0 where it is not known.
	Revision int64
}

func (e *CompactedError) Error() string {
	if e.Revision == 0 {
		return "the revision was compacted"
	}
	return fmt.Sprintf("the revision was compacted, the oldest is %d", e.Revision)
}
