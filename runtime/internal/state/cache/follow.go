package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"apigen.dev/runtime/storage"
)

// fillAndFollow fills the cache if it must, and follows the backend until an error occurs.
func (c *Cache) fillAndFollow(ctx context.Context) error {
	g := c.generation.Load()
	if g == nil || g.ctx.Err() != nil {
		next, err := c.fill(ctx)
		if err != nil {
			return fmt.Errorf("filling: %w", err)
		}
		c.generation.Store(next)
		c.counts.fills.Add(1)
		g = next
	}
	err := c.follow(g)
	var compacted *storage.CompactedError
	if errors.As(err, &compacted) {
		g.cancel(fmt.Errorf("history was lost: %w", err))
	}
	if cause := context.Cause(g.ctx); cause != nil {
		c.endedRevision.Store(max(c.endedRevision.Load(), g.state.Load().revision))
		g.close(cause)
		return cause
	}
	return fmt.Errorf("following: %w", err)
}

// fill reads all keys at one revision and returns the generation that begins with them.
func (c *Cache) fill(ctx context.Context) (*generation, error) {
	reading, stop := context.WithCancel(ctx)
	var reader sync.WaitGroup
	defer reader.Wait()
	defer stop()
	pages := make(chan page, 1) // one is read while the previous one is decoded
	reader.Go(func() { c.read(reading, pages) })

	s := &shared{codec: c.config.Codec, stored: c.config.Stored, verify: c.config.Verify, counts: &c.counts}
	s.pool.budget, s.pool.counts = c.config.RenditionBytes, &c.counts
	var entries []*Entry
	var revision int64
	for p := range pages {
		if p.err != nil {
			return nil, p.err
		}
		revision = p.Revision
		writes := make([]write, len(p.Items))
		inParallel(len(p.Items), func(i int) { writes[i] = s.decode(&p.Items[i]) })
		for i := range writes {
			if n := len(entries); n > 0 && writes[i].key <= entries[n-1].Key() {
				return nil, fmt.Errorf("the backend returned key %q behind %q", writes[i].key, entries[n-1].Key())
			}
			entries = append(entries, writes[i].entry)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g := newGeneration(ctx, c.config.Prefix, s, c.config.Window)
	g.begin(entries, c.config.Indexed, revision)
	return g, nil
}

type page struct {
	*storage.RangeResult
	err error
}

// read sends all pages of the prefix, at the revision of the first page, and closes the channel.
func (c *Cache) read(ctx context.Context, pages chan<- page) {
	defer close(pages)
	request := storage.RangeRequest{Prefix: c.config.Prefix, Limit: c.config.PageSize}
	for {
		result, err := c.config.Backend.Range(ctx, request)
		select {
		case pages <- page{result, err}:
		case <-ctx.Done():
			return
		}
		if err != nil || !result.More || len(result.Items) == 0 {
			return
		}
		request.Revision = result.Revision
		request.From = result.Items[len(result.Items)-1].Key + "\x00"
	}
}

// apply decodes a batch and makes the next state of it. It fails where the backend delivers an event too late: then the
// state was wrong, and the generation is lost.
func (c *Cache) apply(g *generation, batch storage.Batch) error {
	have := g.state.Load().revision
	revision := max(have, batch.Revision)
	events := make([]*storage.Event, 0, len(batch.Events))
	for i := range batch.Events {
		e := &batch.Events[i]
		if !strings.HasPrefix(e.Key, c.config.Prefix) {
			continue
		}
		if e.Revision <= have {
			known := g.state.Load().Get(e.Key)
			if (known == nil && !e.Deleted) || (known != nil && known.revision < e.Revision) {
				return fmt.Errorf("the backend delivered %s at revision %d after everything up to revision %d", e.Key,
					e.Revision, have)
			}
			continue // the backend has delivered it before
		}
		events = append(events, e)
		revision = max(revision, e.Revision)
	}
	writes := make([]write, len(events))
	inParallel(len(events), func(i int) {
		e := events[i]
		if e.Deleted {
			writes[i] = write{key: e.Key, revision: e.Revision}
		} else {
			writes[i] = g.shared.decode(&e.KeyValue)
		}
	})
	g.apply(writes, revision)
	c.counts.batches.Add(1)
	c.counts.events.Add(int64(len(writes)))
	return nil
}

// decode makes an entry of a stored value. Where the codec can't read the value, the entry is corrupt.
func (s *shared) decode(kv *storage.KeyValue) (w write) {
	w = write{key: kv.Key, revision: kv.Revision}
	defer func() {
		if r := recover(); r != nil {
			w.entry = newCorrupt(s, kv.Key, kv.Revision, fmt.Errorf("decoding panicked: %v", r))
		}
	}()
	record, err := s.codec.Decode(kv.Key, kv.Value, kv.Revision)
	if err != nil {
		w.entry = newCorrupt(s, kv.Key, kv.Revision, err)
	} else {
		w.entry = newEntry(s, kv.Key, kv.Revision, record)
	}
	return w
}

// inParallel uses all cores from spreadFrom items on, and gives each core a portion at a time.
const (
	spreadFrom = 64
	portion    = 16
)

// inParallel calls do for 0 to n-1, on all cores where n is large.
func inParallel(n int, do func(i int)) {
	if n < spreadFrom {
		for i := range n {
			do(i)
		}
		return
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for {
				end := int(next.Add(portion))
				for i := end - portion; i < min(end, n); i++ {
					do(i)
				}
				if end >= n {
					return
				}
			}
		})
	}
	workers.Wait()
}
