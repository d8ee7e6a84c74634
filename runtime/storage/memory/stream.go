package memory

import (
	"context"
	"strings"
	"sync/atomic"

	"apigen.dev/runtime/storage"
)

const batchRecords = 1000

func (b *backend) Watch(ctx context.Context, prefix string, after int64) (storage.Stream, error) {
	if err := b.usable(ctx); err != nil {
		return nil, err
	}
	if err := storage.ValidateWatch(after); err != nil {
		return nil, err
	}
	last := b.history.tail.Load()
	if after > 0 {
		var err error
		if last, err = b.history.before(after); err != nil {
			return nil, err
		}
	}
	return &stream{
		ctx: ctx, backend: b, prefix: prefix, floor: after, last: last,
		progress: make(chan struct{}, 1), closed: make(chan struct{}),
	}, nil
}

// stream is a position in the history. Its reader alone moves it; it holds no queue and no goroutine.
type stream struct {
	ctx     context.Context
	backend *backend
	prefix  string
	floor   int64   // the stream delivers nothing up to it
	last    *record // the last record that the reader has looked at

	asked    atomic.Bool   // progress is wanted
	progress chan struct{} // wakes the reader for progress
	shut     atomic.Bool
	closed   chan struct{}
}

func (s *stream) Next(ctx context.Context) (storage.Batch, error) {
	for {
		if err := s.ended(ctx); err != nil {
			return storage.Batch{}, err
		}
		asked := s.asked.Swap(false) // before looking: a later request finds a later tail
		events, atTail := s.collect()
		if asked && !atTail {
			s.asked.Store(true)
		}
		if len(events) > 0 || atTail && asked {
			return storage.Batch{Events: events, Revision: s.last.revision}, nil
		}
		if !atTail {
			continue
		}
		select {
		case <-s.last.followed:
		case <-s.progress:
		case <-s.backend.closed:
		case <-s.closed:
		case <-s.ctx.Done():
		case <-ctx.Done():
		}
	}
}

// collect moves the stream forward and returns the events in between. atTail says that it has reached the end.
func (s *stream) collect() (events []storage.Event, atTail bool) {
	for range batchRecords {
		next := s.last.next.Load()
		if next == nil {
			return events, true
		}
		s.last = next
		if next.revision > s.floor && strings.HasPrefix(next.event.Key, s.prefix) {
			events = append(events, next.event)
		}
	}
	return events, false
}

func (s *stream) ended(ctx context.Context) error {
	select {
	case <-s.closed:
		return storage.ErrClosed
	case <-s.backend.closed:
		return storage.ErrClosed
	default:
	}
	if err := s.ctx.Err(); err != nil {
		return err
	}
	return ctx.Err()
}

func (s *stream) RequestProgress(ctx context.Context) error {
	if err := s.ended(ctx); err != nil {
		return err
	}
	s.asked.Store(true)
	select {
	case s.progress <- struct{}{}:
	default:
	}
	return nil
}

func (s *stream) Close() {
	if !s.shut.Swap(true) {
		close(s.closed)
	}
}
