package cache

import "errors"

var (
	// ErrNotReady means that the cache has not been filled yet, or doesn't follow the backend.
	ErrNotReady = errors.New("the cache is not ready")
	// ErrLagging means that the cache did not catch up with the backend in time.
	ErrLagging = errors.New("the cache lags behind storage")
	// ErrFuture means that the requested revision did not come within the bounded wait.
	ErrFuture = errors.New("the revision is in the future")
	// ErrExpired means that the window no longer has the requested revision.
	ErrExpired = errors.New("the revision is no longer in the window")
	// ErrCorrupt means that a stored value can't be decoded.
	ErrCorrupt = errors.New("the stored value can't be decoded")
	// ErrInconsistent means that the cache differed from the backend, and was dropped.
	ErrInconsistent = errors.New("the cache differs from the backend")
)
