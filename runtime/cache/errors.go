package cache

import "errors"

var (
	// ErrNotReady: the cache has not been filled yet.
	ErrNotReady = errors.New("the cache is not ready")
	// ErrLagging: the cache did not catch up with the backend in time.
	ErrLagging = errors.New("the cache lags behind storage")
	// ErrFuture: the revision asked for has not come within the bounded wait.
	ErrFuture = errors.New("the revision is in the future")
	// ErrExpired: the window no longer holds what was asked for.
	ErrExpired = errors.New("the revision is no longer in the window")
	// ErrCorrupt: a value could not be decoded.
	ErrCorrupt = errors.New("the stored value can't be decoded")
	// ErrInconsistent: the cache held something else than the backend, and was dropped.
	ErrInconsistent = errors.New("the cache differs from the backend")
)
