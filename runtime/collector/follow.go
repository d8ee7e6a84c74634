package collector

import (
	"context"
	"fmt"
	"time"

	"apigen.dev/runtime/api"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// glance is how long a follower waits for the progress of a storage that it asked for it.
const glance = 50 * time.Millisecond

// follow keeps the graph up to date with a resource until ctx ends.
func (c *Collector) follow(ctx context.Context, r *resource) {
	defer r.setTried()
	for pause := firstRetry; ; pause = min(pause*2, lastRetry) {
		began := time.Now()
		err := c.watch(ctx, r)
		r.reach(0)
		if ctx.Err() != nil {
			return
		}
		if unwatchable(err) {
			r.skipped.Store(true)
			r.reach(0)
			c.log.Debug("the garbage collector leaves out what has no watch", "resource", r.gr.String())
			return
		}
		c.counts.restarts.Add(1)
		if time.Since(began) > lastRetry {
			pause = firstRetry
		}
		if !apierrors.IsResourceExpired(err) {
			c.log.Warn("the garbage collector's watch ended; it begins anew in "+pause.String(), "resource", r.gr.String(), "error", err)
		}
		r.setTried()
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// watch brings the graph to the state of a resource, and then follows what happens to it. Its error is never nil.
func (c *Collector) watch(ctx context.Context, r *resource) error {
	w, err := r.handle.Watch(ctx, "", api.WatchOptions{AllowBookmarks: true, Corrupt: true}, r.form)
	if err != nil {
		return err
	}
	defer w.Close()
	r.floor.Store(0)
	pace, ok := w.(api.Paced)
	if !ok {
		// It shows something else than what is stored here: nobody can wait for a revision of it.
		return errUnpaced
	}
	if err := c.replay(ctx, r, w, pace); err != nil {
		return err
	}
	r.reach(pace.Revision())
	r.setTried()
	for {
		waiting, cancel := r.wait(ctx)
		events, err := w.Next(waiting)
		interrupted := waiting.Err() != nil && ctx.Err() == nil
		cancel()
		if err != nil && !interrupted {
			return err
		}
		if err := c.observeAll(r, events); err != nil {
			return err
		}
		if wanted := r.missing(); interrupted && wanted > 0 {
			if err := c.hurry(ctx, r, pace, w, wanted); err != nil {
				return err
			}
		}
		r.reach(pace.Revision())
	}
}

// replay takes in the state with which a watch begins. What the graph knew and the state doesn't have is gone, and
// whoever refers to an object of the resource had better look whether it is there.
func (c *Collector) replay(ctx context.Context, r *resource, w api.Watch, pace api.Paced) error {
	c.absent.forget()
	r.hidden.forget()
	seen := map[types.UID]bool{}
	for {
		events, err := w.Next(ctx)
		if err != nil {
			return err
		}
		for i := range events {
			if events[i].Type == api.Bookmark {
				// The first one ends the state. Memory may lag behind it, and have what it no longer has.
				r.floor.Store(pace.Revision())
				if err := c.observeAll(r, events[i+1:]); err != nil {
					return err
				}
				c.reconcile(r, seen)
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
	for _, uid := range c.graph.selected(func(o *object) bool { return o.resource == r && !seen[o.uid] }) {
		c.gone(uid)
	}
	c.queue.add(c.graph.selected(func(o *object) bool {
		for i := range o.owners {
			if o.owners[i].resource == r {
				return true
			}
		}
		return false
	})...)
}

// hurry observes all up to a revision that storage has.
func (c *Collector) hurry(ctx context.Context, r *resource, pace api.Paced, w api.Watch, wanted int64) error {
	ended, end := context.WithCancel(ctx)
	end()
	for ctx.Err() == nil {
		if err := pace.Hurry(ctx); err != nil {
			return err
		}
		if err := c.nextWithin(ended, r, w); err != nil || pace.Revision() >= wanted {
			return err
		}
		bound, cancel := context.WithTimeout(ctx, glance)
		err := c.nextWithin(bound, r, w)
		cancel()
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// nextWithin observes what comes until bound ends, which is no error.
func (c *Collector) nextWithin(bound context.Context, r *resource, w api.Watch) error {
	events, err := w.Next(bound)
	if err != nil && bound.Err() == nil {
		return err
	}
	return c.observeAll(r, events)
}

func (c *Collector) observeAll(r *resource, events []api.Event) error {
	for i := range events {
		if _, err := c.observe(r, &events[i]); err != nil {
			return err
		}
	}
	return nil
}

// observe takes an event in, and returns the object where it is notable.
func (c *Collector) observe(r *resource, e *api.Event) (*object, error) {
	switch {
	case e.Type == api.Bookmark:
		return nil, nil
	case e.Type == api.Corrupt || r.hidden.any():
		return c.unveil(r, e)
	}
	return c.take(r, e)
}

// take is observe for an event of an object that can be read.
func (c *Collector) take(r *resource, e *api.Event) (*object, error) {
	removed := e.Type == api.Deleted
	if (removed || !mayMatter(e.Object)) && !c.graph.concerns(r, removed) {
		return nil, nil
	}
	m, err := readMetadata(e.Object)
	if err != nil {
		return nil, fmt.Errorf("the metadata of an object of %s: %w", r.gr, err)
	}
	o, err := r.object(&m)
	if err != nil {
		return nil, err
	}
	r.floor.Store(o.version)
	switch {
	case removed:
		c.gone(m.UID)
		return nil, nil
	case !o.notable():
		if before := c.graph.remove(m.UID); before != nil {
			c.queue.add(c.graph.awaiting(before)...)
		}
		return nil, nil
	}
	c.noted(o)
	return o, nil
}

// noted takes a notable object in, and has looked at whom its change concerns.
func (c *Collector) noted(o *object) {
	before := c.graph.put(o)
	if before != nil && before.sameAs(o) {
		return
	}
	c.queue.add(o.uid)
	c.queue.add(c.graph.awaiting(o)...)
	if before != nil {
		c.queue.add(c.graph.awaiting(before)...)
	}
	if o.leads() && (before == nil || !before.leads()) {
		c.queue.add(c.graph.refer(o.uid)...)
	}
}

// gone forgets an object that was removed, and has looked at those that depended on it or that it kept waiting.
func (c *Collector) gone(uid types.UID) {
	if before := c.graph.remove(uid); before != nil {
		c.queue.add(c.graph.awaiting(before)...)
	}
	c.queue.add(c.graph.refer(uid)...)
}
