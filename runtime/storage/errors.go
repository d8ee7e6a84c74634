package storage

import (
	"errors"
	"fmt"
)

var (
	// ErrUnavailable: the backend could not be reached, or had no leader, and nothing was written.
	ErrUnavailable = errors.New("storage is unavailable")
	// ErrUnknownOutcome: a write was sent, and whether it took effect is not known. It must not be repeated blindly.
	ErrUnknownOutcome = errors.New("the outcome of the write is unknown")
	// ErrFutureRevision: a read at a revision that the backend has not reached.
	ErrFutureRevision = errors.New("the revision is in the future")
	// ErrTooLarge: the value is larger than the backend takes. Nothing was written.
	ErrTooLarge = errors.New("the value is too large")
	// ErrNoSpace: the backend's space quota is used up. Nothing was written.
	ErrNoSpace = errors.New("storage has no space left")
	// ErrInUse: another process has the backend's directory.
	ErrInUse = errors.New("in use by another server")
	// ErrNoData: the backend's directory holds no data.
	ErrNoData = errors.New("it holds no data")
	// ErrClosed: the backend was closed.
	ErrClosed = errors.New("storage is closed")
)

// ConflictError says that a transaction found another revision than expected. Nothing was written.
type ConflictError struct {
	Key      string
	Expected int64
	// Current is the state that was found, read in the same transaction; nil where the key is absent.
	Current *KeyValue
}

func (e *ConflictError) Error() string {
	found := "absent"
	if e.Current != nil {
		found = fmt.Sprintf("at revision %d", e.Current.Revision)
	}
	return fmt.Sprintf("%s: expected revision %d, found %s", e.Key, e.Expected, found)
}

// CompactedError says that the history asked for is gone.
type CompactedError struct {
	// Revision is the oldest one that can still be had; 0 where it is not known.
	Revision int64
}

func (e *CompactedError) Error() string {
	if e.Revision == 0 {
		return "the revision was compacted"
	}
	return fmt.Sprintf("the revision was compacted, the oldest is %d", e.Revision)
}
