package store

import (
	"context"

	"apigen.dev/runtime/cache"
)

// Stats are counts of a store.
type Stats struct {
	Objects int64
}

// Stats reads the counts from the backend.
func (s *Store[T]) Stats(ctx context.Context) (Stats, error) {
	n, err := s.backend.Count(ctx, s.prefix)
	return Stats{Objects: n}, s.Status(err, "list", "")
}

// Measurement is the state of a resource for metrics.
type Measurement struct {
	// Objects is the number of objects, counted by the cache, or by the backend where there is none; -1 is unknown.
	Objects int64
	// Cache has the statistics of the cache; nil where there is none.
	Cache *cache.Stats
}

// Measure returns the state of the resource for metrics.
func (s *Store[T]) Measure(ctx context.Context) Measurement {
	m := Measurement{Objects: -1}
	if s.cache == nil {
		if n, err := s.backend.Count(ctx, s.prefix); err == nil {
			m.Objects = n
		}
		return m
	}
	stats := s.cache.Stats()
	m.Cache = &stats
	if _, err := s.cache.Current(); err == nil {
		m.Objects = stats.Entries
	}
	return m
}
