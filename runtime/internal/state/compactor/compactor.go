// Package compactor drops old history from a backend once in an interval: one of many servers does it, and the others
// see that it was done. It knows storage alone.
//
// The protocol is that of servers built on k8s.io/apiserver, so that they and ours can share a backend. A key outside
// of every resource is a logical clock. A server that finds the clock as it left it (or found it) an interval ago
// advances it, and compacts to the revision that the backend had then. A server that finds the clock advanced waits
// another interval. So the backend always keeps the history of at least one interval, and of less than three where the
// compacting server dies.
package compactor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"apigen.dev/runtime/storage"
)

// Key is the logical clock. Its value is the revision of the last compaction; the protocol depends on the key's
// revision alone.
const Key = "compact_rev_key"

// Backend is the part of a storage.Backend that a Compactor uses.
type Backend interface {
	Get(ctx context.Context, key string, opts storage.GetOptions) (*storage.KeyValue, int64, error)
	Put(ctx context.Context, key string, value []byte, expect int64, ttl time.Duration) (int64, error)
	Compact(ctx context.Context, revision int64) error
}

// Compactor is one of many that share a backend. It has one user: Run, or a caller of Step.
type Compactor struct {
	Backend Backend
	// Interval is the time between compactions, and the age of the history that they leave.
	Interval time.Duration
	// Log logs failures; nil logs nothing.
	Log *slog.Logger
	// After is the clock; nil is time.After.
	After func(time.Duration) <-chan time.Time

	clock    int64 // the revision at which the compactor last saw Key; 0 is absent
	revision int64 // the backend's revision at that time; 0 before the first step
}

// timeout bounds a step, so that a backend that hangs costs one step.
const timeout = 30 * time.Second

// Run compacts until ctx ends. It retries a failed step an interval later. The first step, an interval after the
// beginning, only reads the clock.
func (c *Compactor) Run(ctx context.Context) {
	after := c.After
	if after == nil {
		after = time.After
	}
	for {
		select {
		case <-after(c.Interval):
		case <-ctx.Done():
			return
		}
		if _, err := c.Step(ctx); err != nil && ctx.Err() == nil && c.Log != nil {
			c.Log.Warn("old revisions were not compacted; next attempt in "+c.Interval.String(), "error", err)
		}
	}
}

// Step is one tick of the clock. It returns the revision to which it compacted; 0 where another server compacted, or
// where the step is the first. After a failure the next step does the same, except that a clock that was advanced stays
// so: another interval passes then.
func (c *Compactor) Step(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	target := c.revision
	written, err := c.Backend.Put(ctx, Key, strconv.AppendInt(nil, target, 10), c.clock, 0)
	var conflict *storage.ConflictError
	if errors.As(err, &conflict) {
		return 0, c.adopt(ctx)
	}
	switch {
	case errors.Is(err, storage.ErrNoSpace):
		// The clock stands still for all servers, but the backend has no space, and compacting twice does no harm.
		if err := c.adopt(ctx); err != nil {
			return 0, err
		}
	case err != nil:
		return 0, fmt.Errorf("advancing %s: %w", Key, err)
	default:
		c.clock, c.revision = written, written
	}
	if target == 0 {
		return 0, nil
	}
	if err := c.Backend.Compact(ctx, target); err != nil {
		var compacted *storage.CompactedError
		if errors.As(err, &compacted) { // an operator, or etcd itself, has compacted already
			return 0, nil
		}
		return 0, fmt.Errorf("compacting to revision %d: %w", target, err)
	}
	return target, nil
}

// adopt takes over the clock as another server has set it.
func (c *Compactor) adopt(ctx context.Context) error {
	found, revision, err := c.Backend.Get(ctx, Key, storage.GetOptions{RevisionOnly: true})
	if err != nil {
		return fmt.Errorf("reading %s: %w", Key, err)
	}
	c.clock, c.revision = 0, revision
	if found != nil {
		c.clock = found.Revision
	}
	return nil
}
