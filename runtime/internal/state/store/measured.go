package store

import "context"

// Measured is implemented by the handles of stored kinds.
type Measured interface {
	Measure(ctx context.Context) Measurement
	// Size returns the number of objects and the sum of their sizes, from the cache, at no cost; false if it isn't
	// known.
	Size() (objects, bytes int64, known bool)
}
