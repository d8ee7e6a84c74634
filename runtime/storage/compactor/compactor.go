// Package compactor drops old history from a backend, once an interval whatever the number of servers: one of many does
// it, and the others see that it was done. It knows storage alone.
//
// The protocol is that of servers built on k8s.io/apiserver, so that they and ours can share a backend without fighting.
// A key outside of every resource is a logical clock: whoever finds it as it left it (or found it) an interval ago
// advances it, and compacts to the revision that the backend had then; whoever finds it advanced waits another interval.
// So there is always the history of one interval at least, and of less than three where the compacting server dies.
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

// Key is the logical clock. Its value is the revision of the last compaction; what counts is that it is written.
const Key = "compact_rev_key"

// Backend is what a Compactor needs of a storage.Backend.
type Backend interface {
	Get(ctx context.Context, key string, opts storage.GetOptions) (*storage.KeyValue, int64, error)
	Put(ctx context.Context, key string, value []byte, expect int64, ttl time.Duration) (int64, error)
	Compact(ctx context.Context, revision int64) error
}

// Compactor is one of many that share a backend. It has one user: Run, or a caller of Step.
type Compactor struct {
	Backend Backend
	// Interval between compactions, and the age of the history that they leave.
	Interval time.Duration
	// Log hears of what fails; nil is silence.
	Log *slog.Logger
	// After is the clock; nil is time.After.
	After func(time.Duration) <-chan time.Time

	clock    int64 // the revision at which Key was last seen; 0 is absent
	revision int64 // what the backend had then; 0 before the first step
}

// timeout bounds a step, so that a backend that hangs costs one.
const timeout = 30 * time.Second

// Run compacts until ctx ends. What fails is tried again an interval later. The first step, an interval after the
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

// Step is one tick of the clock. It returns the revision to which it compacted; 0 where another server did, or where it
// is the first. A backend that fails changes nothing in what the next step does, except that a clock which was advanced
// stays so: another interval passes then.
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
		// The clock stands still for all, but nothing is wrong with dropping twice what makes space.
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
		if errors.As(err, &compacted) { // by hand, or by etcd itself: it is done
			return 0, nil
		}
		return 0, fmt.Errorf("compacting to revision %d: %w", target, err)
	}
	return target, nil
}

// adopt takes over the clock that another server has set.
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
