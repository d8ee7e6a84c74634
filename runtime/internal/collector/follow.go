package collector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// progressWait is how long a follower waits for a progress event that it asked storage for.
const progressWait = 50 * time.Millisecond

// follow keeps the graph up to date with a resource until ctx ends.
func (c *Collector) follow(ctx context.Context, r *resource) {
	defer r.setTried()
	for pause := firstRetry; ; pause = min(pause*2, lastRetry) {
		began, from := time.Now(), r.source.Load()
		err := c.watchAny(ctx, r)
		r.setReached(0)
		r.confirmed.stop()
		if ctx.Err() != nil {
			return
		}
		if r.source.Load() != from {
			continue // the resource was replaced, and that ended the watch
		}
		if r.remote == nil && isUnwatchable(err) {
			r.skipped.Store(true)
			r.setReached(0)
			c.log.Debug("the garbage collector leaves out what has no watch", "resource", r.gr.String())
			return
		}
		c.counts.restarts.Add(1)
		if time.Since(began) > lastRetry {
			pause = firstRetry
		}
		if !apierrors.IsResourceExpired(err) {
			level := slog.LevelWarn
			if r.remote != nil && pause > firstRetry {
				level = slog.LevelDebug // its server is away, as the status of its APIService says
			}
			c.log.Log(ctx, level, "the garbage collector's watch ended; it begins anew in "+pause.String(),
				"resource", r.gr.String(), "error", err)
		}
		r.setTried()
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// isUnwatchable reports whether a resource of this server can never be watched.
func isUnwatchable(err error) bool {
	return errors.Is(err, errNoProgress) || apierrors.IsMethodNotSupported(err) || apierrors.IsNotFound(err)
}

func (c *Collector) watchAny(ctx context.Context, r *resource) error {
	if r.remote != nil {
		return c.watchRemote(ctx, r)
	}
	return c.watch(ctx, r)
}

// watch updates the graph with the state of a resource, and then with its events. Its error is never nil.
func (c *Collector) watch(ctx context.Context, r *resource) error {
	from := r.source.Load()
	w, err := from.handle.Watch(ctx, "", api.WatchOptions{AllowBookmarks: true, Corrupt: true}, from.form)
	if err != nil {
		return err
	}
	defer w.Close()
	r.floor.Store(0)
	pace, ok := w.(verb.Paced)
	if !ok {
		// The objects of the resource aren't stored here, so they have no revision that one could wait for.
		return errNoProgress
	}
	if err := c.replay(ctx, r, w, pace); err != nil {
		return err
	}
	r.setReached(pace.Revision())
	r.setTried()
	for {
		waiting, cancel := r.waitContext(ctx)
		events, err := w.Next(waiting)
		interrupted := waiting.Err() != nil && ctx.Err() == nil
		cancel()
		if err != nil && !interrupted {
			return err
		}
		if err := c.observeAll(r, events); err != nil {
			return err
		}
		if wanted := r.wantedRevision(); interrupted && wanted > 0 {
			if err := c.catchUp(ctx, r, pace, w, wanted); err != nil {
				return err
			}
		}
		r.setReached(pace.Revision())
	}
}

// replay updates the graph with the state with which a watch begins. It removes objects that the state doesn't have,
// and queues all objects with references to objects of the resource.
func (c *Collector) replay(ctx context.Context, r *resource, w verb.Watch, pace verb.Paced) error {
	c.forgetAbsent() // storage may have been restored to an earlier state
	r.replays++
	seen := map[types.UID]bool{}
	for {
		events, err := w.Next(ctx)
		if err != nil {
			return err
		}
		for i := range events {
			if events[i].Type == api.Bookmark {
				// The first bookmark ends the state. A cache may lag behind it, and have objects that were deleted
				// since.
				r.floor.Store(pace.Revision())
				if err := c.observeAll(r, events[i+1:]); err != nil {
					return err
				}
				c.reconcile(r, seen)
				c.graph.endReplay(r)
				return nil
			}
			o, err := c.observe(r, &events[i])
			if err != nil {
				return err
			}
			if o != nil {
				seen[o.uid] = true
			}
		}
	}
}

func (c *Collector) reconcile(r *resource, seen map[types.UID]bool) {
	for _, uid := range c.graph.selectUIDs(func(o *object) bool { return o.resource == r && !seen[o.uid] }) {
		c.removed(uid)
	}
	c.queue.add(c.graph.referrersTo(r)...)
}

// catchUp observes all events up to a revision that storage has.
func (c *Collector) catchUp(ctx context.Context, r *resource, pace verb.Paced, w verb.Watch, wanted int64) error {
	ended, end := context.WithCancel(ctx)
	end()
	for ctx.Err() == nil {
		if err := pace.Hurry(ctx); err != nil {
			return err
		}
		if err := c.nextWithin(ended, r, w); err != nil || pace.Revision() >= wanted {
			return err
		}
		bound, cancel := context.WithTimeout(ctx, progressWait)
		err := c.nextWithin(bound, r, w)
		cancel()
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// nextWithin observes the events that come until bound ends, which isn't an error.
func (c *Collector) nextWithin(bound context.Context, r *resource, w verb.Watch) error {
	events, err := w.Next(bound)
	if err != nil && bound.Err() == nil {
		return err
	}
	return c.observeAll(r, events)
}

func (c *Collector) observeAll(r *resource, events []verb.Event) error {
	for i := range events {
		if _, err := c.observe(r, &events[i]); err != nil {
			return err
		}
	}
	return nil
}

// observe updates the graph with an event, and returns the object if it is relevant.
func (c *Collector) observe(r *resource, e *verb.Event) (*object, error) {
	switch {
	case e.Type == api.Bookmark:
		return nil, nil
	case e.Type == api.Corrupt || c.graph.corruptLen(r) > 0:
		return c.observeCorrupt(r, e)
	}
	return c.observeReadable(r, e)
}

// observeReadable is observe for an event of an object that can be read.
func (c *Collector) observeReadable(r *resource, e *verb.Event) (*object, error) {
	removed := e.Type == api.Deleted
	if removed {
		// A reference to the object may come to the graph later.
		if version, ok := e.Object.Version(); ok {
			r.floor.Store(version)
		}
	}
	if (removed || !mayBeRelevant(e.Object)) && !c.graph.concerns(r, removed) {
		return nil, nil
	}
	m, err := readMetadata(e.Object)
	if err != nil {
		return nil, fmt.Errorf("the metadata of an object of %s: %w", r.gr, err)
	}
	return c.observeMetadata(r, &m, removed)
}

// observeMetadata updates the graph with the state of an object, or its last one if it was removed.
func (c *Collector) observeMetadata(r *resource, m *metadata, removed bool) (*object, error) {
	o, err := r.object(m)
	if err != nil {
		return nil, err
	}
	if r.remote == nil {
		r.floor.Store(o.version)
	}
	switch {
	case removed:
		c.removed(m.UID)
		return nil, nil
	case !o.isRelevant():
		c.forget(m.UID)
		return nil, nil
	}
	c.updated(o)
	return o, nil
}

// updated puts a relevant object into the graph, and queues the objects that its change concerns.
func (c *Collector) updated(o *object) {
	before := c.graph.put(o)
	if before != nil && before.sameAs(o) {
		return
	}
	c.queue.add(o.uid)
	c.queue.add(c.graph.waitingOwners(o)...)
	if before != nil {
		c.queue.add(c.graph.waitingOwners(before)...)
	}
	if o.isForeground() && (before == nil || !before.isForeground()) {
		c.queue.add(c.graph.referrers(o.uid)...)
	}
}

// forget removes an object from the graph, and queues the owners that waited for it.
func (c *Collector) forget(uid types.UID) {
	if before := c.graph.remove(uid); before != nil {
		c.queue.add(c.graph.waitingOwners(before)...)
	}
}

// removed is forget for a deleted object. It also queues the object's dependents.
func (c *Collector) removed(uid types.UID) {
	c.forget(uid)
	c.queue.add(c.graph.referrers(uid)...)
}
