package cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc64"
	"iter"
	"time"

	"apigen.dev/runtime/storage"
)

const suspectPause = 10 * time.Minute

func (c *Cache) suspect() {
	select {
	case c.suspected <- struct{}{}:
	default: // a request is pending already
	}
}

// runChecks runs Check at intervals of Config.Check, and after a call of suspect, until ctx ends. Between two checks of
// suspects it waits for Config.SuspectPause.
func (c *Cache) runChecks(ctx context.Context) {
	var every, rested <-chan time.Time
	if c.config.Check > 0 {
		ticker := time.NewTicker(c.config.Check)
		defer ticker.Stop()
		every = ticker.C
	}
	for suspected := c.suspected; ; {
		select {
		case <-every:
			if c.Ready() != nil {
				continue // the trouble was logged already
			}
			err := c.checkAndLog(ctx)
			if c.config.Verify && errors.Is(err, ErrInconsistent) && ctx.Err() == nil {
				panic(fmt.Sprintf("cache: %v", err))
			}
		case <-suspected:
			if err := c.checkAndLog(ctx); err != nil && !errors.Is(err, ErrInconsistent) {
				c.suspect() // the comparison wasn't possible
			}
			suspected, rested = nil, time.After(c.config.SuspectPause)
		case <-rested:
			suspected = c.suspected
		case <-ctx.Done():
			return
		}
	}
}

func (c *Cache) checkAndLog(ctx context.Context) error {
	err := c.Check(ctx)
	switch {
	case err == nil || ctx.Err() != nil:
	case errors.Is(err, ErrInconsistent):
		c.config.Logger.Error("the cache differed from the backend, and was dropped", "resource", c.config.Name,
			"error", err)
	default:
		c.config.Logger.Warn("the cache could not be compared with the backend", "resource", c.config.Name, "error",
			err)
	}
	return err
}

// Check compares the current snapshot with the backend at the snapshot's revision, or a later one where that was
// compacted: keys, revisions, and the hash of each object. Where they differ it fails with ErrInconsistent and drops
// the generation, so that cursors expire and the cache starts anew. Any other error means that the comparison wasn't
// possible. A check costs as much as filling the cache, and disturbs no reader.
func (c *Cache) Check(ctx context.Context) error {
	g := c.generation.Load()
	if g == nil {
		return c.unfilled()
	}
	s := &g.state.Load().Snapshot
	err := c.compare(ctx, g, s)
	if compacted := (*storage.CompactedError)(nil); errors.As(err, &compacted) {
		// Nothing moves the revision of a cache whose keys nobody writes, and of which nobody waits for progress.
		if s, err = c.caughtUp(ctx, g); err == nil {
			err = c.compare(ctx, g, s)
		}
	}
	if errors.Is(err, ErrInconsistent) {
		err = c.confirm(ctx, g, err)
	}
	switch {
	case err == nil:
		c.counts.checks.Add(1)
	case errors.Is(err, ErrInconsistent):
		c.counts.differences.Add(1)
		g.cancel(err)
	default:
		c.counts.failedChecks.Add(1)
	}
	return err
}

// confirm compares again, after the watch has delivered the events up to the time when the difference was found. The
// backend may have been replaced meanwhile, which the watch notices by itself.
func (c *Cache) confirm(ctx context.Context, g *generation, found error) error {
	s, err := c.caughtUp(ctx, g)
	if errors.Is(err, errTooSlow) {
		return found
	}
	if err != nil {
		return err
	}
	return c.compare(ctx, g, s)
}

// caughtUp returns a snapshot of the backend's present revision or a later one.
func (c *Cache) caughtUp(ctx context.Context, g *generation) (*Snapshot, error) {
	revision, err := c.config.Backend.Revision(ctx)
	if err != nil {
		return nil, err
	}
	bound := time.NewTimer(c.config.Wait)
	defer bound.Stop()
	return c.reach(ctx, g, revision, bound.C)
}

func (c *Cache) compare(ctx context.Context, g *generation, s *Snapshot) error {
	next, stop := iter.Pull(s.Entries(c.config.Prefix, ""))
	defer stop()
	request := storage.RangeRequest{Prefix: c.config.Prefix, Limit: c.config.PageSize, Revision: s.revision}
	for {
		page, err := c.config.Backend.Range(ctx, request)
		if err != nil {
			return err
		}
		for i := range page.Items {
			e, _ := next()
			if why := g.shared.differs(e, &page.Items[i]); why != "" {
				return fmt.Errorf("%w: %s at revision %d: %s", ErrInconsistent, c.config.Name, s.revision, why)
			}
		}
		if n := len(page.Items); page.More && n > 0 {
			request.From = page.Items[n-1].Key + "\x00"
			continue
		}
		if e, ok := next(); ok {
			return fmt.Errorf("%w: %s at revision %d: the backend doesn't have %s", ErrInconsistent, c.config.Name,
				s.revision, e.Key())
		}
		return nil
	}
}

var crcTable = crc64.MakeTable(crc64.ECMA)

// differs describes how an entry, or nil for none, differs from the backend's value; "" means no difference.
func (s *shared) differs(e *Entry, kv *storage.KeyValue) string {
	switch {
	case e == nil || e.Key() > kv.Key:
		return "the cache doesn't have " + kv.Key
	case e.Key() < kv.Key:
		return "the backend doesn't have " + e.Key()
	case e.revision != kv.Revision:
		return fmt.Sprintf("the cache has %s at revision %d, the backend at %d", kv.Key, e.revision, kv.Revision)
	}
	// A stale value is kept as it would be stored today, so both sides are brought to one form.
	want := s.decode(kv).entry
	if have, want := e.Err() != nil, want.Err() != nil; have != want {
		return fmt.Sprintf("%s can be decoded in one of them only (in the backend: %t)", kv.Key, !want)
	}
	if e.packed != want.packed {
		return fmt.Sprintf("%s has other labels or fields in the cache than in the backend", kv.Key)
	}
	have, should := e.payload.peek(s), want.payload.peek(s)
	if !bytes.Equal(have, should) {
		return fmt.Sprintf("%s hashes to %016x in the cache, to %016x in the backend", kv.Key,
			crc64.Checksum(have, crcTable), crc64.Checksum(should, crcTable))
	}
	return ""
}
