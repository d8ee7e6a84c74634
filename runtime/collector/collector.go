// Package collector is the garbage collector of a server that stands alone: it deletes what was owned by what is gone,
// and resolves the finalizers foregroundDeletion and orphan that a deletion recorded, as kube-controller-manager does in
// a cluster. It works over the open resources of its own process, like any other client, and knows registry and api alone.
//
// It remembers only objects that have owners, and those whose deletion waits for their dependents: a graph that each
// resource's watch keeps up to date. Whether an owner is there is asked of the resource's cache, and, before anything is
// deleted for want of it, of storage. All that it does is a write with preconditions on uid and resourceVersion, or one that
// changes nothing where it was done before: any number of processes may do it at the same time, and one that dies in the middle leaves
// nothing behind that another wouldn't take up.
package collector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/registry"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// manager is the field manager of the collector's writes.
const manager = "garbage-collector"

const (
	workers = 8
	// firstRetry is how soon what failed is tried again; the time doubles up to lastRetry.
	firstRetry = 10 * time.Millisecond
	lastRetry  = 30 * time.Second
	// patience is how long what waits for its dependents waits before it asks after them again.
	patience = 30 * time.Second
	// actionTimeout bounds one action.
	actionTimeout = time.Minute
	// loudAfter is how many failures in a row are not worth a warning: conflicts and the like.
	loudAfter = 8
)

// Collector collects the garbage of some resources. New makes it; it does nothing before Run.
type Collector struct {
	resources []*resource
	kinds     map[schema.GroupKind]*resource
	graph     *graph
	queue     *queue
	absent    *absent
	log       *slog.Logger
	counts    counts
	// began is where its time begins, which steps of the wall clock don't touch.
	began time.Time
}

// New returns a collector over open resources. Those that can't be watched are left alone, as are kinds that aren't
// among them. Nil is silence.
func New(handles []registry.Handle, log *slog.Logger) *Collector {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := &Collector{kinds: map[schema.GroupKind]*resource{}, graph: newGraph(), queue: newQueue(), absent: &absent{}, log: log, began: time.Now()}
	for _, handle := range handles {
		if handle.Info().Storage == "" {
			continue // nothing is stored of the kind: there is nothing to collect
		}
		r := newResource(handle, c.kinds)
		c.resources = append(c.resources, r)
		c.kinds[r.kind] = r
	}
	return c
}

// Run collects until ctx ends, and returns once all of its goroutines have.
func (c *Collector) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	for _, r := range c.resources {
		running.Go(func() { c.follow(ctx, r) })
	}
	for _, r := range c.resources {
		select {
		case <-r.tried:
		case <-ctx.Done():
			return
		}
	}
	for range workers {
		running.Go(func() { c.work(ctx) })
	}
	<-ctx.Done()
	c.queue.close()
}

// Ready is nil once each resource has been read, or could not be.
func (c *Collector) Ready() error {
	for _, r := range c.resources {
		select {
		case <-r.tried:
		default:
			return fmt.Errorf("the owners of %s are being read", r.gr)
		}
	}
	return nil
}

// work takes objects from the queue until that is closed.
func (c *Collector) work(ctx context.Context) {
	for {
		uid, ok := c.queue.take()
		if !ok {
			return
		}
		again, err := c.attempt(ctx, uid)
		tries := c.queue.done(uid, again, err != nil)
		switch {
		case err == nil || ctx.Err() != nil:
		case tries == loudAfter:
			c.counts.failed.Add(1)
			c.log.Warn("garbage could not be collected; it is tried again", "error", err)
		default:
			c.counts.failed.Add(1)
			c.log.Debug("garbage could not be collected yet", "error", err)
		}
	}
}

// attempt does what is to be done about an object, and tells when to look again at the latest; 0 is when something
// happens. A panic of a user's function ends the attempt, and nothing else.
func (c *Collector) attempt(ctx context.Context, uid types.UID) (again time.Duration, err error) {
	o := c.graph.get(uid)
	if o == nil {
		return 0, nil
	}
	defer unpanic(o, &err)
	ctx, cancel := context.WithTimeout(ctx, actionTimeout)
	defer cancel()
	switch {
	case o.deleting && o.orphan:
		err = c.orphan(ctx, o)
	case o.deleting && o.foreground:
		again, err = c.foreground(ctx, o)
	case !o.deleting:
		err = c.collect(ctx, o)
	}
	if err != nil {
		return again, fmt.Errorf("%s: %w", o, err)
	}
	return again, nil
}

// unpanic turns a panic into an error. It is deferred.
func unpanic(o *object, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%s: panicked: %v", o, p)
	}
}

// settled waits until the graph knows all that was written up to a revision: whoever was to be found then is.
func (c *Collector) settled(ctx context.Context, revision int64) error {
	var errs []error
	for _, r := range c.resources {
		errs = append(errs, r.await(ctx, revision))
	}
	return errors.Join(errs...)
}

type counts struct{ deleted, unlinked, finalized, failed, restarts atomic.Int64 }

// Stats are counts since the beginning, but for those of what is now.
type Stats struct {
	// Objects that are remembered, now; Queued are those to be looked at or tried again.
	Objects, Queued int64
	// Unfollowed are resources that are not watched, now; Unreadable are objects of which nobody knows the owners.
	Unfollowed, Unreadable int64
	// Deleted objects whose owners were gone, Unlinked ones that lost references to owners, Finalized ones whose deletion
	// no longer waits for their dependents.
	Deleted, Unlinked, Finalized int64
	// Failed attempts, and Restarts of watches.
	Failed, Restarts int64
}

// Stats returns the counts.
func (c *Collector) Stats() Stats {
	s := Stats{
		Objects: int64(c.graph.len()), Queued: int64(c.queue.len()),
		Deleted: c.counts.deleted.Load(), Unlinked: c.counts.unlinked.Load(), Finalized: c.counts.finalized.Load(),
		Failed: c.counts.failed.Load(), Restarts: c.counts.restarts.Load(),
	}
	for _, r := range c.resources {
		s.Unreadable += int64(r.hidden.len())
		if !r.skipped.Load() && r.follows() == 0 {
			s.Unfollowed++
		}
	}
	return s
}
