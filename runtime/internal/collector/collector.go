// Package collector is the garbage collector of a server without kube-controller-manager. It deletes objects whose
// owners don't exist any more, and handles the finalizers foregroundDeletion and orphan that a deletion records, as the
// garbage collector of kube-controller-manager does. It reads and writes through the open resources of its process. It
// may know packages api, objects, registry and verb.
//
// The collector remembers the objects that have owners, and those whose deletion waits for their dependents, in a graph
// that the watches of the resources keep up to date. It asks the cache of a resource whether an owner exists, and asks
// storage before it deletes a dependent. All its writes have preconditions on uid and resourceVersion, or change
// nothing the second time. So several processes may collect at the same time, and when one of them dies, another
// finishes its work.
//
// Resources of other servers, behind this one, are followed in the same way, by their metadata: see Remote. Only such a
// server itself can say that an owner doesn't exist there; nothing is deleted while it doesn't answer.
package collector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/internal/verb"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// manager is the field manager of the collector's writes.
const manager = "garbage-collector"

const (
	workers = 8
	// firstRetry is the time until the first retry after a failure; the time doubles up to lastRetry.
	firstRetry = 10 * time.Millisecond
	lastRetry  = 30 * time.Second
	// recheckAfter is how long an object waits for its dependents before the collector checks them again.
	recheckAfter = 30 * time.Second
	// maxAbsent bounds how many absent owners the collector remembers.
	maxAbsent = 4096
	// actionTimeout bounds one action.
	actionTimeout = time.Minute
	// warnAfter is how many failures in a row the collector warns about. Fewer are usual, such as conflicts.
	warnAfter = 8
)

// Collector collects the garbage of some resources. It does nothing before Run.
type Collector struct {
	kinds *kinds
	graph *graph
	queue *queue

	mu        sync.Mutex // guards the fields below
	resources []*resource
	// unknown are versions of other servers that never said which resources they have.
	unknown []schema.GroupVersion
	// begin follows a resource; nil while the collector doesn't run.
	begin func(*resource)
	// absent are owners that storage doesn't have, so that the collector asks once for the owner of a thousand
	// dependents. An absent owner stays absent: no object ever gets its uid again. Keys are of type ownerKey.
	absent      sync.Map
	absentCount atomic.Int64
	log         *slog.Logger
	counts      counts
	// started is the origin of the collector's monotonic time.
	started time.Time
}

type ownerKey struct {
	resource        *resource
	namespace, name string
	uid             types.UID
}

// rememberAbsent remembers that an owner is absent.
func (c *Collector) rememberAbsent(at ownerKey) {
	if c.absentCount.Add(1) > maxAbsent {
		c.forgetAbsent()
	}
	c.absent.Store(at, nil)
}

func (c *Collector) forgetAbsent() {
	c.absent.Clear()
	c.absentCount.Store(0)
}

// New returns a Collector for open resources. It leaves alone resources that it can't watch, and kinds of other
// resources. A nil log discards all messages.
func New(handles []verb.Handle, log *slog.Logger) *Collector {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := &Collector{
		kinds: &kinds{all: map[schema.GroupKind]*kind{}}, graph: newGraph(), queue: newQueue(), log: log,
		started: time.Now(),
	}
	stored := map[schema.GroupResource]*resource{}
	for _, handle := range verb.Distinct(handles) {
		if handle.Info().Storage == "" {
			continue // objects of the kind aren't stored
		}
		r := newResource(handle, c.kinds)
		c.resources = append(c.resources, r)
		stored[handle.Info().Stored().GroupResource()] = r
	}
	for _, handle := range handles { // a reference may name an owner in any group that serves it
		info := handle.Info()
		if r := stored[info.Stored().GroupResource()]; r != nil {
			c.kinds.serve(schema.GroupKind{Group: info.Group, Kind: info.Names.Kind}, r)
		}
	}
	return c
}

// Run collects until ctx ends, and returns when all of its goroutines have ended.
func (c *Collector) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	for _, r := range c.start(ctx, &running) {
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
	c.mu.Lock()
	c.begin = nil // nothing is followed any more
	c.mu.Unlock()
	c.queue.close()
}

// start begins to follow all resources, and returns them.
func (c *Collector) start(ctx context.Context, running *sync.WaitGroup) []*resource {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begin = func(r *resource) {
		var own context.Context
		own, r.stop = context.WithCancel(ctx)
		running.Go(func() { c.follow(own, r) })
	}
	for _, r := range c.resources {
		c.followIfRunning(r)
	}
	return slices.Clone(c.resources)
}

// add adds a resource, for a caller that holds the lock.
func (c *Collector) add(r *resource) {
	c.resources = append(c.resources, r)
	c.kinds.serve(r.kind, r)
	c.followIfRunning(r)
}

// followIfRunning follows a resource, or looks at what refers to its objects if it can't be followed.
func (c *Collector) followIfRunning(r *resource) {
	switch {
	case c.begin == nil:
	case r.skipped.Load():
		c.queue.add(c.graph.referrersTo(r)...)
	default:
		c.begin(r)
	}
}

// leave removes a resource, for a caller that holds the lock.
func (c *Collector) leave(r *resource) {
	c.resources = slices.DeleteFunc(c.resources, func(other *resource) bool { return other == r })
	c.kinds.leave(r.kind, r)
	if r.stop != nil {
		r.stop()
	}
	for _, uid := range c.graph.selectUIDs(func(o *object) bool { return o.resource == r }) {
		c.graph.remove(uid)
	}
}

// all returns the resources that the collector follows.
func (c *Collector) all() []*resource {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.resources)
}

// Replace makes the collector follow the resources that were opened, and leave those that are gone. A resource of the
// same name as one that is gone takes its place: its objects are the same.
func (c *Collector) Replace(opened, gone []verb.Handle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, handle := range opened {
		info := handle.Info()
		at := slices.IndexFunc(c.resources, func(r *resource) bool {
			return r.remote == nil && r.gr == info.GroupResource()
		})
		if at >= 0 {
			c.resources[at].read(handle)
			continue
		}
		c.add(newResource(handle, c.kinds))
	}
	for _, handle := range gone {
		at := slices.IndexFunc(c.resources, func(r *resource) bool {
			return r.remote == nil && r.source.Load().handle == handle
		})
		if at < 0 {
			continue // another one took its place
		}
		c.leave(c.resources[at])
	}
}

// Ready returns nil when the collector has read each resource, or failed to.
func (c *Collector) Ready() error {
	for _, r := range c.all() {
		select {
		case <-r.tried:
		default:
			return fmt.Errorf("the owners of %s are being read", r.gr)
		}
	}
	return nil
}

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
		case tries == warnAfter:
			c.counts.failed.Add(1)
			c.log.Warn("garbage could not be collected; it is tried again", "error", err)
		default:
			c.counts.failed.Add(1)
			c.log.Debug("garbage could not be collected yet", "error", err)
		}
	}
}

// attempt handles one object, and returns the time after which the collector must check it again; 0 means after its
// next event. A panic of an author's function only ends the attempt.
func (c *Collector) attempt(ctx context.Context, uid types.UID) (again time.Duration, err error) {
	o := c.graph.get(uid)
	if o == nil {
		return 0, nil
	}
	defer recoverPanic(o, &err)
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

func recoverPanic(o *object, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%s: panicked: %v", o, p)
	}
}

// waitForGraph waits until the graph has all writes up to a revision.
func (c *Collector) waitForGraph(ctx context.Context, revision int64) error {
	var errs []error
	for _, r := range c.all() {
		errs = append(errs, r.waitFor(ctx, revision))
	}
	return errors.Join(errs...)
}

// waitForDependents waits until the graph has all dependents in this server that an owner had when it was deleted.
func (c *Collector) waitForDependents(ctx context.Context, owner *object) error {
	revision := owner.version
	if owner.resource.remote != nil {
		all := c.all()
		at := slices.IndexFunc(all, func(r *resource) bool { return r.remote == nil && !r.skipped.Load() })
		if at < 0 {
			return nil
		}
		var err error
		if revision, err = all[at].revision(ctx); err != nil {
			return err
		}
	}
	return c.waitForGraph(ctx, revision)
}

type counts struct{ deleted, unlinked, finalized, failed, restarts atomic.Int64 }

// Stats are the counts of a Collector since it was made, and its present state.
type Stats struct {
	// Objects is how many objects the graph has now. Queued is how many of them are to be handled or retried.
	Objects, Queued int64
	// Unfollowed is how many resources aren't watched now. Corrupt is how many objects can't be read, so that their
	// owners are unknown.
	Unfollowed, Corrupt int64
	// Deleted counts objects that were deleted because they had no owner any more, Unlinked objects that lost
	// references to owners, and Finalized objects whose finalizer was removed.
	Deleted, Unlinked, Finalized int64
	// Failed counts failed attempts, Restarts restarts of watches.
	Failed, Restarts int64
}

// Stats returns the counts.
func (c *Collector) Stats() Stats {
	s := Stats{
		Objects: int64(c.graph.len()), Queued: int64(c.queue.len()),
		Deleted: c.counts.deleted.Load(), Unlinked: c.counts.unlinked.Load(), Finalized: c.counts.finalized.Load(),
		Failed: c.counts.failed.Load(), Restarts: c.counts.restarts.Load(),
	}
	for _, r := range c.all() {
		s.Corrupt += int64(c.graph.corruptLen(r))
		if !r.skipped.Load() && r.followedRevision() == 0 {
			s.Unfollowed++
		}
	}
	return s
}
