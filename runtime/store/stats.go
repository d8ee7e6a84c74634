package store

import (
	"context"

	"apigen.dev/runtime/cache"
)

// Stats are counts.
type Stats struct {
	Objects int64
}

// Stats asks the backend.
func (s *Store[T]) Stats(ctx context.Context) (Stats, error) {
	n, err := s.backend.Count(ctx, s.prefix)
	return Stats{Objects: n}, s.Status(err, "list", "")
}

// Measurement is how a resource does at a moment.
type Measurement struct {
	// Objects that there are, by the cache's count or by the backend's where there is no cache; -1 is not known.
	Objects int64
	// Cache is the cache's; nil where there is none.
	Cache *cache.Stats
}

// Measure implements Measured.
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
